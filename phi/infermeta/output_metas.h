// OutputMetas: what a shape function gives, whatever its own type, as a list of output slots.
#pragma once

#include <cstddef>
#include <optional>
#include <tuple>
#include <utility>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// A slot for each output, a list one for each element; absent outputs keep an empty slot.
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
  /// Of output number `output`: its first slot, and the one behind its last.
  std::pair<size_t, size_t> slots_of(size_t output) const {
    return {output == 0 ? 0 : ends_[output - 1], ends_[output]};
  }
  /// From here on the output is absent.
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
  std::vector<size_t> ends_;  // of each output, the slot behind its last
};

/// Of a TensorMeta, an optional one, a list of them, or a tuple of these.
template <typename Result>
OutputMetas metas(const Result& result) {
  OutputMetas out;
  out.add(result);
  return out;
}

}  // namespace phi
