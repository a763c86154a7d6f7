// GradMask: the set of outputs that a gradient function computes; other outputs stay undefined.
#pragma once

#include <cstdint>
#include <initializer_list>

#include "phi/infermeta/output_metas.h"

namespace phi {

class GradMask {
 public:
  /// All outputs.
  GradMask() = default;
  explicit GradMask(std::initializer_list<int> wanted) : bits_(0) {
    for (int output : wanted) add(output);
  }
  static GradMask none() { return GradMask({}); }
  void add(int output) { bits_ |= 1u << output; }
  bool operator[](int output) const { return (bits_ >> output) & 1u; }
  /// For keys of the decision cache.
  uint32_t bits() const { return bits_; }

  /// Removes the outputs that are not wanted.
  void select(OutputMetas& outputs) const {
    for (size_t i = 0; i < outputs.num_outputs(); ++i) {
      if (!(*this)[static_cast<int>(i)]) outputs.leave_out(i);
    }
  }

 private:
  uint32_t bits_ = ~0u;
};

}  // namespace phi
