// searchsorted on GPUs.
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/partition_point.h"

namespace phi {
namespace {

/// x < y, where NaN is larger than all numbers.
template <typename C>
PHI_HD bool is_less(C x, C y) {
  return x < y || (y != y && x == x);
}

/// The position of value i in its row of sequences. Each row has `per_row` values.
template <typename T, typename Index>
struct PlaceOf {
  using C = compute_t<T>;
  const T* sequences;
  const T* values;
  int64_t n;
  int64_t per_row;
  bool right;
  PHI_HD Index operator()(int64_t i) const {
    const T* row = sequences + i / per_row * n;
    const auto value = static_cast<C>(values[i]);
    return static_cast<Index>(gpu::partition_point(n, [&](int64_t k) {
      const auto element = static_cast<C>(row[k]);
      return right ? !is_less(value, element) : is_less(element, value);
    }));
  }
};

template <typename T, typename Index>
void search(const GpuContext& ctx, const DenseTensor& sequence, const DenseTensor& values,
            bool right, DenseTensor* out) {
  const int64_t n = sequence.dims().back();
  const int64_t per_row = sequence.ndim() == 1 ? values.numel() : values.dims().back();
  index_loop(ctx, out->mutable_data<Index>(), values.numel(),
             PlaceOf<T, Index>{sequence.data<T>(), values.data<T>(), n, per_row, right});
}

}  // namespace

template <typename T, typename Context>
void SearchsortedKernel(const Context& ctx, const DenseTensor& sorted_sequence,
                        const DenseTensor& values, bool right, DenseTensor* out) {
  if (out->dtype() == DataType::INT32) {
    return search<T, int32_t>(ctx, sorted_sequence, values, right, out);
  }
  search<T, int64_t>(ctx, sorted_sequence, values, right, out);
}

PHI_REGISTER_KERNEL(searchsorted, GPU, SearchsortedKernel, Numbers);

}  // namespace phi
