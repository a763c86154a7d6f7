// full, arange, cast and assign on GPUs.
#include "phi/generated/kernels/creation.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Element i of a shard whose first element has index `first`: from + index * by, computed in C.
template <typename T, typename C>
struct ArangeFunctor {
  int64_t first;
  C from;
  C by;
  PHI_HD T operator()(int64_t i) const {
    return convert_value<T>(from + static_cast<C>(first + i) * by);
  }
};

/// arange with fractional steps and an integer dtype: truncates the exact value.
template <typename T>
struct CutArangeFunctor {
  ArangeFunctor<double, double> exact;
  PHI_HD T operator()(int64_t i) const { return convert_value<T>(static_cast<int64_t>(exact(i))); }
};

}  // namespace

/// Sets all elements to `value`.
template <typename T, typename Context>
void FullKernel(const Context& ctx, const Scalar& value, DenseTensor* out) {
  const T element =
      is_floating(value.dtype()) ? convert_value<T>(value.to<double>()) : value.to<T>();
  fill(ctx, out->mutable_data<T>(), out->numel(), element);
}

/// Element i of the global array is start + i step, computed in double and rounded once.
template <typename T, typename Context>
void ArangeKernel(const Context& ctx, const Scalar& start, const Scalar& step, DenseTensor* out) {
  using C = std::conditional_t<std::is_integral_v<T>, int64_t, double>;
  const bool fractional = is_floating(start.dtype()) || is_floating(step.dtype());
  const int64_t first = ctx.output_box(0, out->dims()).box.offset[0];
  T* to = out->mutable_data<T>();
  if constexpr (std::is_integral_v<T>) {
    if (fractional) {
      const ArangeFunctor<double, double> exact{first, start.to<double>(), step.to<double>()};
      return index_loop(ctx, to, out->numel(), CutArangeFunctor<T>{exact});
    }
  }
  index_loop(ctx, to, out->numel(), ArangeFunctor<T, C>{first, start.to<C>(), step.to<C>()});
}

/// Converts x to out's dtype, with the same values as on the CPU.
template <typename T, typename Context>
void CastKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  gpu::cast(ctx, x, out);
}

template <typename T, typename Context>
void AssignKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  keep(ctx, x, out);
}

PHI_REGISTER_KERNEL(full, GPU, FullKernel, EveryType);
PHI_REGISTER_KERNEL(arange, GPU, ArangeKernel, Numbers);
PHI_REGISTER_KERNEL(cast, GPU, CastKernel, EveryType);
PHI_REGISTER_KERNEL(assign, GPU, AssignKernel, EveryType);

}  // namespace phi
