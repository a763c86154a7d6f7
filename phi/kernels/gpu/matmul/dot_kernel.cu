// Dot products of rows on GPUs. Complex numbers are not conjugated.
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/templates/matmul/operands.h"
#include "phi/kernels/templates/sum_over.h"

namespace phi {
namespace {

/// Type of the arithmetic; integers wrap.
template <typename T>
using wrapping_product_t = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                              std::type_identity<compute_t<T>>>::type;

template <typename T>
struct ElementProduct {
  const T* x;
  const T* y;
  PHI_HD wrapping_product_t<T> operator()(int64_t i) const {
    using C = wrapping_product_t<T>;
    return static_cast<C>(static_cast<C>(x[i]) * static_cast<C>(y[i]));
  }
};

/// Multiplies `other` by its row's number.
template <typename T>
struct ScaleByRow {
  const T* of_rows;
  const T* other;
  int64_t columns;
  PHI_HD T operator()(int64_t i) const {
    using C = compute_t<T>;
    return static_cast<T>(static_cast<C>(of_rows[i / columns]) * static_cast<C>(other[i]));
  }
};

}  // namespace

template <typename T, typename Context>
void DotKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, DenseTensor* out) {
  using C = wrapping_product_t<T>;
  using Sum = std::conditional_t<std::is_integral_v<T>, int64_t, C>;
  DenseTensor products = DenseTensor::empty({x.dims(), dtype_of<Sum>()}, ctx.place());
  Sum* const terms = products.mutable_data<Sum>();
  index_loop(ctx, terms, x.numel(), ElementProduct<T>{x.data<T>(), y.data<T>()});
  if constexpr (kIsComplex<T>) {
    AxisSet last;
    last.add(x.ndim() - 1);
    sum_over(ctx, terms, x.dims(), last, out->mutable_data<T>());
  } else {
    reduce_rows<SumReducer<Sum>>(ctx, terms, out->numel(), x.dims().back(), out->mutable_data<T>());
  }
}

template <typename T, typename Context>
void DotGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                   const DenseTensor& out_grad, DenseTensor* x_grad, DenseTensor* y_grad) {
  const auto scale_rows = [&](const DenseTensor& other, DenseTensor* grad) {
    if (!grad) return;
    const DenseTensor factors = conjugated<T>(ctx, other);
    index_loop(ctx, grad->mutable_data<T>(), other.numel(),
               ScaleByRow<T>{out_grad.data<T>(), factors.data<T>(), other.dims().back()});
  };
  scale_rows(y, x_grad);
  scale_rows(x, y_grad);
}

using GpuDotTypes = join_t<SignedNumbers, Complexes>;
PHI_REGISTER_KERNEL(dot, GPU, DotKernel, GpuDotTypes);
PHI_REGISTER_KERNEL(dot_grad, GPU, DotGradKernel, MatmulTypes);

}  // namespace phi
