// argmax and argmin on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/reduce.h"

namespace phi {
namespace {

struct LargestFirst {
  template <typename C>
  PHI_HD static bool precedes(C a, C b) {
    return a > b;
  }
};

struct SmallestFirst {
  template <typename C>
  PHI_HD static bool precedes(C a, C b) {
    return a < b;
  }
};

template <typename C>
struct ExtremeAndOffset {
  C value;
  int64_t at;  // offset from the line's first element; -1: none yet
};

/// Reducer: the best element, or a NaN; the first of equal ones. The result does not depend on the
/// order of combination.
template <typename R, typename C>
struct ArgExtremeReducer {
  using value_type = ExtremeAndOffset<C>;
  using State = value_type;
  static constexpr State kIdentity{C(0), -1};
  PHI_HD static value_type lift(C x, int64_t at) { return {x, at}; }
  PHI_HD static State join(State a, State b) {
    if (a.at < 0) return b;
    if (b.at < 0) return a;
    const bool a_is_nan = a.value != a.value;
    const bool b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (R::precedes(a.value, b.value)) return a;
    if (R::precedes(b.value, a.value)) return b;
    return a.at < b.at ? a : b;
  }
  PHI_HD static State carry(State a, value_type b) { return join(a, b); }
};

/// Index of an element in its line, from its offset; elements of a line are `stride` apart.
template <typename C>
struct NumberInLine {
  int64_t stride;
  PHI_HD int64_t operator()(const ExtremeAndOffset<C>& best) const { return best.at / stride; }
};

template <typename R, typename T>
void arg_extreme(const GpuContext& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                 DenseTensor* out) {
  using C = compute_t<T>;
  if (x.numel() == 0) return;
  const bool is_one_line = flatten || x.ndim() == 0;
  const Dims dims = is_one_line ? Dims{x.numel()} : x.dims();
  const int along = is_one_line ? 0 : normalise_axis(axis.to<int64_t>(), dims.ndim(), dims);
  AxisSet axes;
  axes.add(along);
  const auto find = [&](DenseTensor* places) {
    reduce<ArgExtremeReducer<R, C>>(ctx, x.data<T>(), dims, axes, places->mutable_data<int64_t>(),
                                    NumberInLine<C>{dims.numel(along + 1, dims.ndim())});
  };
  if (out->dtype() == DataType::INT64) return find(out);
  DenseTensor wide = DenseTensor::empty({out->dims(), DataType::INT64}, ctx.place());
  find(&wide);
  convert(ctx, wide.data<int64_t>(), out->mutable_data<int32_t>(), out->numel());
}

using GpuArgExtremeTypes = join_t<TypeList<int16_t>, Numbers>;

}  // namespace

/// The first index of the largest element (of the first NaN, if any). out is int32 or int64.
template <typename T, typename Context>
void ArgMaxKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<LargestFirst, T>(ctx, x, axis, flatten, out);
}

/// The same for the smallest element.
template <typename T, typename Context>
void ArgMinKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<SmallestFirst, T>(ctx, x, axis, flatten, out);
}

PHI_REGISTER_KERNEL(argmax, GPU, ArgMaxKernel, GpuArgExtremeTypes);
PHI_REGISTER_KERNEL(argmin, GPU, ArgMinKernel, GpuArgExtremeTypes);

}  // namespace phi
