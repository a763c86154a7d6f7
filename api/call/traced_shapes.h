// TracedShapes: the shapes of a kernel's arguments, as a trace shows them.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <type_traits>

#include "phi/common/inline_vector.h"
#include "phi/core/dense_tensor.h"

namespace phi {

/// Takes a kernel's arguments one by one, also those that are not tensors.
class TracedShapes {
 public:
  template <typename Arg>
  void add(const Arg& arg) {
    if constexpr (std::is_same_v<Arg, DenseTensor>) {
      add_tensor(arg.meta(), kInput);
    } else if constexpr (std::is_convertible_v<Arg, std::span<DenseTensor* const>>) {
      for (const DenseTensor* x : std::span<DenseTensor* const>(arg)) add_optional(x, kOutput);
    } else if constexpr (std::is_convertible_v<Arg, std::span<const DenseTensor* const>>) {
      for (const DenseTensor* x : std::span<const DenseTensor* const>(arg)) add_optional(x, kInput);
    } else if constexpr (std::is_convertible_v<Arg, DenseTensor*>) {
      add_optional(arg, kOutput);
    } else if constexpr (std::is_convertible_v<Arg, const DenseTensor*>) {
      add_optional(arg, kInput);
    }
  }

  /// The same bytes for the same shapes, dtypes and directions.
  std::string_view key() const {
    return {reinterpret_cast<const char*>(words_.data()), words_.size() * sizeof(int64_t)};
  }
  /// "f32[4,8] f32[8,2] -> f32[4,2]"
  std::string to_string() const;

 private:
  static constexpr int64_t kInput = 0;
  static constexpr int64_t kOutput = 1;

  void add_optional(const DenseTensor* x, int64_t direction) {
    if (x) add_tensor(x->meta(), direction);
  }
  void add_tensor(const TensorMeta& meta, int64_t direction);

  InlineVector<int64_t, 40> words_;  // direction, dtype, ndim, then the extents
};

}  // namespace phi
