// multiplex and partial_sum on the CPU: select rows from a list of arrays, and add columns of a
// list.
#include <algorithm>
#include <type_traits>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/concat.h"
#include "phi/infermeta/concat.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/row_lookup.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// The type in which columns are added; integers wrap around.
template <typename T>
struct SumType {
  using type = compute_t<T>;
};
template <typename T>
requires std::is_integral_v<T>
struct SumType<T> {
  using type = std::make_unsigned_t<T>;
};
template <typename T>
using sum_t = typename SumType<T>::type;

}  // namespace

/// T is the dtype of inputs.
///
/// Errors   OutOfRange for an index that is not an input.
template <typename T, typename Context>
void MultiplexKernel(const Context&, std::span<const DenseTensor* const> inputs,
                     const DenseTensor& index, DenseTensor* out) {
  const int64_t width = out->dims().numel(1, out->ndim());
  const Dims choices{static_cast<int64_t>(inputs.size())};
  T* to = out->mutable_data<T>();
  look_up(
      LookupTable({choices, Box::whole(choices)}, 0), index, "index", "inputs",
      [&](int64_t i, int64_t chosen) {
        std::copy_n(inputs[static_cast<size_t>(chosen)]->data<T>() + i * width, width,
                    to + i * width);
      },
      [](int64_t) {});
}

template <typename T, typename Context>
void PartialSumKernel(const Context&, std::span<const DenseTensor* const> x, int start_index,
                      DenseTensor* out) {
  using C = sum_t<T>;
  const int64_t width = out->dims()[1];
  std::vector<C> sums(static_cast<size_t>(width));
  T* to = out->mutable_data<T>();
  for (int64_t r = 0; r < out->dims()[0]; ++r, to += width) {
    std::ranges::fill(sums, C{});
    for (const DenseTensor* part : x) {
      const int64_t columns = part->dims()[1];
      const T* from = part->data<T>() + r * columns + first_column(start_index, columns);
      for (int64_t c = 0; c < width; ++c)
        sums[c] = static_cast<C>(sums[c] + static_cast<C>(from[c]));
    }
    convert(sums.data(), to, width);
  }
}

PHI_REGISTER_KERNEL(multiplex, CPU, MultiplexKernel, EveryType);
PHI_REGISTER_KERNEL(partial_sum, CPU, PartialSumKernel, Numbers);

}  // namespace phi
