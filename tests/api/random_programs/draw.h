// Draws a random program from a seed: the same one on every machine.
#pragma once

#include <memory>
#include <random>
#include <vector>

#include "rules.h"

namespace phi::testing::programs {

/// The program of a seed.
RandomProgram draw_program(uint32_t seed);

/// A program that is being drawn: what is there so far, and chances.
class Draw {
 public:
  explicit Draw(uint32_t seed);

  RandomProgram take() { return std::move(*program_); }

  // ---- chances ----

  int64_t below(int64_t n) { return static_cast<int64_t>(rng_() % static_cast<uint64_t>(n)); }
  bool chance(int percent) { return below(100) < percent; }
  template <typename T>
  const T& one_of(const std::vector<T>& options) {
    return options[static_cast<size_t>(below(static_cast<int64_t>(options.size())))];
  }
  /// 1/16, 2/16, ...: short in print, and exact.
  double number(double low, double high) {
    return low + (high - low) * static_cast<double>(below(17)) / 16;
  }

  // ---- what is there ----

  const RandomProgram& program() const { return *program_; }
  const Rules& rules() const { return *rules_; }
  const Tensor& tensor(ValueId value) const { return rules_->value(value); }
  const Dims& shape(ValueId value) const { return tensor(value).shape(); }
  /// Floating values that hold for `test`; later ones come more often. kNoValue if there is none.
  template <typename Test>
  ValueId pick(const Test& test) {
    std::vector<ValueId> found;
    for (ValueId value = 0; value < next_; ++value) {
      if (rules_->is_usable(value) && test(value)) found.push_back(value);
    }
    if (found.empty()) return kNoValue;
    const auto n = static_cast<int64_t>(found.size());
    return found[static_cast<size_t>(std::max(below(n), below(n)))];
  }
  ValueId pick() {
    return pick([](ValueId) { return true; });
  }
  /// All leaves.
  std::vector<ValueId> leaves() const;
  std::vector<int64_t> dims_of(ValueId value) const {
    return {shape(value).begin(), shape(value).end()};
  }
  int64_t extent() { return one_of(extents_); }
  Layout layout(int ndim);

  // ---- adding ----

  ValueId new_value() { return next_++; }
  /// The statement with new values for what it makes, if the rules have it.
  bool add(Statement statement, size_t num_outs = 1);
  ValueId last() const { return next_ - 1; }

 private:
  void draw_setting();
  void draw_meshes();
  void draw_given();
  void draw_layers();
  Given given(int ndim, bool may_be_partial);

  std::mt19937 rng_;
  std::unique_ptr<RandomProgram> program_;
  std::unique_ptr<Rules> rules_;
  std::vector<int64_t> extents_;
  bool is_wide_ = false;
  ValueId next_ = 0;
};

/// Adds a statement of some kind, if the values there allow for one. False if not.
bool draw_call(Draw& draw);      // of an operator that makes new tensors
bool draw_write(Draw& draw);     // to a tensor in place
bool draw_move(Draw& draw);      // between layouts, at once or in two halves
bool draw_function(Draw& draw);  // recompute or scan
bool draw_gradient(Draw& draw);  // of a loss, which may be made for it
bool draw_update(Draw& draw);    // of parameters, with gradients
bool draw_stale(Draw& draw);     // a gradient whose value is overwritten
/// Waits for all reshards that are under way.
void draw_waits(Draw& draw);

}  // namespace phi::testing::programs
