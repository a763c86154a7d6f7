// Conversions between complex numbers and their parts, on GPUs.
#include <complex>

#include "phi/generated/kernels/complex.h"
#include "phi/kernels/functors/fast/complex_math.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Part `which` (0 real, 1 imaginary) of complex numbers stored as pairs.
template <typename Part>
struct PartFunctor {
  const Part* parts;
  int which;
  PHI_HD Part operator()(int64_t i) const { return parts[2 * i + which]; }
};

/// Real numbers are their own conjugates.
template <typename Part>
struct ConjugatePart {
  const Part* parts;
  PHI_HD Part operator()(int64_t i) const { return (i & 1) != 0 ? -parts[i] : parts[i]; }
};

template <typename T>
struct JoinParts {
  template <typename C>
  PHI_HD Complex<T> operator()(C real, C imag) const {
    return Complex<T>(real, imag);
  }
};

template <typename T>
void take_part(const GpuContext& ctx, const DenseTensor& x, int which, DenseTensor* out) {
  using Part = typename T::value_type;
  index_loop(ctx, out->mutable_data<Part>(), out->numel(),
             PartFunctor<Part>{static_cast<const Part*>(x.raw_data()), which});
}

using Parts = TypeList<float, double>;

}  // namespace

template <typename T, typename Context>
void RealKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  take_part<T>(ctx, x, 0, out);
}

template <typename T, typename Context>
void ImagKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  take_part<T>(ctx, x, 1, out);
}

template <typename T, typename Context>
void ConjKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  if constexpr (kIsComplex<T>) {
    using Part = typename T::value_type;
    index_loop(ctx, static_cast<Part*>(out->mutable_raw_data()), 2 * out->numel(),
               ConjugatePart<Part>{static_cast<const Part*>(x.raw_data())});
  } else {
    keep(ctx, x, out);
  }
}

/// real + i imag; both broadcast.
template <typename T, typename Context>
void ComplexKernel(const Context& ctx, const DenseTensor& real, const DenseTensor& imag,
                   DenseTensor* out) {
  binary_loop(ctx, real.data<T>(), real.dims(), imag.data<T>(), imag.dims(),
              out->mutable_data<Complex<T>>(), out->dims(), JoinParts<T>());
}

/// A copy: pairs of parts have the memory layout of complex numbers.
template <typename T, typename Context>
void AsRealKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  keep(ctx, x, out);
}

template <typename T, typename Context>
void AsComplexKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  keep(ctx, x, out);
}

template <typename T, typename Context>
void ModulusGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& out_grad,
                       DenseTensor* x_grad) {
  gpu::map(ctx, x_grad->mutable_data<T>(), x_grad->numel(), ModulusGradFunctor<T>(), x.data<T>(),
           out_grad.data<typename T::value_type>());
}

PHI_REGISTER_KERNEL(real, GPU, RealKernel, Complexes);
PHI_REGISTER_KERNEL(imag, GPU, ImagKernel, Complexes);
PHI_REGISTER_KERNEL(conj, GPU, ConjKernel, Complexes);
PHI_REGISTER_KERNEL(conj, GPU, ConjKernel, RealNumbers);
PHI_REGISTER_KERNEL(abs_grad, GPU, ModulusGradKernel, Complexes);
PHI_REGISTER_KERNEL(complex, GPU, ComplexKernel, Parts);
PHI_REGISTER_KERNEL(as_real, GPU, AsRealKernel, Complexes);
PHI_REGISTER_KERNEL(as_complex, GPU, AsComplexKernel, Parts);

}  // namespace phi
