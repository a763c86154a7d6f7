// GradMask: which outputs of a gradient function a caller wants; the others stay undefined.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <optional>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

class GradMask {
 public:
  /// All of them.
  GradMask() = default;
  explicit GradMask(std::initializer_list<int> wanted) : bits_(0) {
    for (int output : wanted) add(output);
  }
  static GradMask none() { return GradMask({}); }
  void add(int output) { bits_ |= 1u << output; }
  bool operator[](int output) const { return (bits_ >> output) & 1u; }
  /// For keys of the decision cache.
  uint32_t bits() const { return bits_; }

  /// The metas of the wanted outputs; the others become absent.
  std::vector<std::optional<TensorMeta>> select(
      std::vector<std::optional<TensorMeta>> outputs) const {
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!(*this)[static_cast<int>(i)]) outputs[i] = std::nullopt;
    }
    return outputs;
  }

 private:
  uint32_t bits_ = ~0u;
};

}  // namespace phi
