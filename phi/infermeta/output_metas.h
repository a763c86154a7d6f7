// OutputMetas: the result of any shape function as one list of output slots.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Slots of outputs: one slot per output, or one per element if the output is a list. An absent
/// output has an empty slot.
class OutputMetas {
 public:
  void add(const TensorMeta& meta) { add_one(meta); }
  void add(const std::optional<TensorMeta>& meta) { add_one(meta); }
  void add(const std::vector<TensorMeta>& metas) {
    slots_.insert(slots_.end(), metas.begin(), metas.end());
    ends_.push_back(slots_.size());
  }
  template <typename... Metas>
  void add(const std::tuple<Metas...>& metas) {
    std::apply([this](const auto&... meta) { (add(meta), ...); }, metas);
  }

  size_t size() const { return slots_.size(); }
  const std::optional<TensorMeta>& operator[](size_t slot) const { return slots_[slot]; }
  size_t num_outputs() const { return ends_.size(); }
  /// The slots [first, end) of output number `output`.
  std::pair<size_t, size_t> slots_of(size_t output) const {
    return {output == 0 ? 0 : ends_[output - 1], ends_[output]};
  }
  /// Empties the slots of the output, which becomes absent.
  void leave_out(size_t output) {
    const auto [first, end] = slots_of(output);
    for (size_t slot = first; slot < end; ++slot) slots_[slot] = std::nullopt;
  }

 private:
  void add_one(const std::optional<TensorMeta>& meta) {
    slots_.push_back(meta);
    ends_.push_back(slots_.size());
  }

  std::vector<std::optional<TensorMeta>> slots_;
  std::vector<size_t> ends_;  // per output: the slot after its last one
};

/// Converts a TensorMeta, an optional one, a list of them, or a tuple of these.
template <typename Result>
OutputMetas metas(const Result& result) {
  OutputMetas out;
  out.add(result);
  return out;
}

}  // namespace phi
