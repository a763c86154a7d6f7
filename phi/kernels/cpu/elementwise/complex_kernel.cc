// Complex numbers and their parts on the CPU.
#include <complex>
#include <cstring>

#include "phi/common/errors.h"
#include "phi/generated/kernels/complex.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/device_primitives.h"
#include "phi/kernels/cpu/loops/elementwise_loop.h"
#include "phi/kernels/functors/fast/complex_math.h"
#include "phi/kernels/templates/elementwise/unary_instantiations.h"

namespace phi {
namespace {

template <typename C>
struct RealPartFunctor {
  auto operator()(C x) const { return x.real(); }
};
template <typename C>
struct ImaginaryPartFunctor {
  auto operator()(C x) const { return x.imag(); }
};
/// Real numbers are their own conjugates.
template <typename T>
struct ConjugateFunctor {
  T operator()(T x) const {
    if constexpr (kIsComplex<T>) x = conj(x);
    return x;
  }
};

// [.., 2] arrays of parts and complex arrays have the same bytes.
void copy_bytes(const DenseTensor& x, DenseTensor* out) {
  if (out->numel() > 0) std::memcpy(out->mutable_raw_data(), x.raw_data(), out->meta().nbytes());
}

using ConjugateTypes = join_t<Complexes, RealNumbers>;
using ComplexParts = TypeList<float, double>;

}  // namespace

/// out = real + i imag; both broadcast.
template <typename T, typename Context>
void ComplexKernel(const Context&, const DenseTensor& real, const DenseTensor& imag,
                   DenseTensor* out) {
  using C = Complex<T>;
  binary_loop(real.data<T>(), real.dims(), imag.data<T>(), imag.dims(), out->mutable_data<C>(),
              out->dims(), [](T a, T b) { return C(a, b); });
}

template <typename T, typename Context>
void AsRealKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  copy_bytes(x, out);
}

template <typename T, typename Context>
void AsComplexKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  copy_bytes(x, out);
}

template <typename T, typename Context>
void ModulusGradKernel(const Context&, const DenseTensor& x, const DenseTensor& out_grad,
                       DenseTensor* x_grad) {
  using Part = typename T::value_type;
  const T* xs = x.data<T>();
  const Part* gs = out_grad.data<Part>();
  T* to = x_grad->mutable_data<T>();
  for (int64_t i = 0; i < x_grad->numel(); ++i) to[i] = ModulusGradFunctor<T>()(xs[i], gs[i]);
}

PHI_UNARY_KERNEL(real, RealPartFunctor, Complexes);
PHI_UNARY_KERNEL(imag, ImaginaryPartFunctor, Complexes);
PHI_UNARY_KERNEL(conj, ConjugateFunctor, ConjugateTypes);
PHI_REGISTER_KERNEL(abs_grad, CPU, ModulusGradKernel, Complexes);
PHI_REGISTER_KERNEL(complex, CPU, ComplexKernel, ComplexParts);
PHI_REGISTER_KERNEL(as_real, CPU, AsRealKernel, Complexes);
PHI_REGISTER_KERNEL(as_complex, CPU, AsComplexKernel, ComplexParts);

}  // namespace phi
