// Cross products of vectors along one tensor dim, on the CPU.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/linalg.h"
#include "phi/infermeta/linalg.h"
#include "phi/kernels/cpu/linalg/matrix.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// Vectors whose three elements are `inner` apart. Integers wrap around.
template <typename T>
struct CrossOperand {
  using C = typename std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                                        std::type_identity<compute_t<T>>>::type;
  const T* data;
  bool conjugated = false;

  C at(int64_t i) const {
    const C value = static_cast<C>(data[i]);
    if constexpr (kIsComplex<T>) return conjugated ? conj(value) : value;
    return value;
  }
};

/// Cross products of vectors with contiguous elements; each vector is read once.
template <typename T>
void cross_in_rows(const CrossOperand<T>& x, const CrossOperand<T>& y, int64_t count, T* out) {
#pragma GCC unroll 4
  for (int64_t v = 0; v < 3 * count; v += 3) {
    const auto x0 = x.at(v), x1 = x.at(v + 1), x2 = x.at(v + 2);
    const auto y0 = y.at(v), y1 = y.at(v + 1), y2 = y.at(v + 2);
    out[v] = static_cast<T>(x1 * y2 - x2 * y1);
    out[v + 1] = static_cast<T>(x2 * y0 - x0 * y2);
    out[v + 2] = static_cast<T>(x0 * y1 - x1 * y0);
  }
}

template <typename T>
void cross(const CrossOperand<T>& x, const CrossOperand<T>& y, const Dims& dims, int axis, T* out) {
  const int64_t outer = dims.numel(0, axis), inner = dims.numel(axis + 1, dims.ndim());
  if (inner == 1) return cross_in_rows(x, y, outer, out);
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t e = 0; e < 3; ++e) {
      const int64_t base = o * 3 * inner;
      const int64_t next = base + (e + 1) % 3 * inner, last = base + (e + 2) % 3 * inner;
      for (int64_t i = 0; i < inner; ++i) {
        out[base + e * inner + i] =
            static_cast<T>(x.at(next + i) * y.at(last + i) - x.at(last + i) * y.at(next + i));
      }
    }
  }
}

}  // namespace

template <typename T, typename Context>
void CrossKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, int axis,
                 DenseTensor* out) {
  // The default axis is the first tensor dim of extent 3 of the global tensor.
  const int at = cross_axis(ctx.input_box(0, x.dims()).global, axis);
  cross<T>({x.data<T>()}, {y.data<T>()}, x.dims(), at, out->mutable_data<T>());
}

/// x_grad = y x out_grad, y_grad = out_grad x x.
template <typename T, typename Context>
void CrossGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor& out_grad, int axis, DenseTensor* x_grad,
                     DenseTensor* y_grad) {
  const int at = cross_axis(ctx.input_box(0, x.dims()).global, axis);
  const CrossOperand<T> g{out_grad.data<T>()};
  if (x_grad) cross<T>({y.data<T>(), true}, g, x.dims(), at, x_grad->mutable_data<T>());
  if (y_grad) cross<T>(g, {x.data<T>(), true}, x.dims(), at, y_grad->mutable_data<T>());
}

using CpuCrossTypes = join_t<SignedNumbers, Complexes>;
using CpuCrossGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(cross, CPU, CrossKernel, CpuCrossTypes);
PHI_REGISTER_KERNEL(cross_grad, CPU, CrossGradKernel, CpuCrossGradTypes);

}  // namespace phi
