// TracedShapes: the shapes of a kernel's arguments, formatted for a trace.
#pragma once

#include <string>
#include <string_view>

#include "api/call/args/kernel_args.h"
#include "phi/common/inline_vector.h"
#include "phi/core/dense_tensor.h"

namespace phi {

class TracedShapes {
 public:
  explicit TracedShapes(const detail::KernelArrays& arrays) {
    for (const auto& x : arrays) add(x.array->meta(), x.is_written ? kOutput : kInput);
  }

  /// A key that is equal for equal shapes, dtypes and directions.
  std::string_view key() const {
    return {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(int64_t)};
  }
  /// "f32[4,8] f32[8,2] -> f32[4,2]"
  std::string to_string() const;

 private:
  static constexpr int64_t kInput = 0;
  static constexpr int64_t kOutput = 1;

  void add(const TensorMeta& meta, int64_t direction);

  InlineVector<int64_t, 40> words_;  // direction, dtype, ndim, then the extents
};

}  // namespace phi
