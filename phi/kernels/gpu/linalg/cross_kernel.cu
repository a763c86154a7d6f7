// Cross products along one tensor dim, on GPUs.
#include "phi/generated/kernels/linalg.h"
#include "phi/infermeta/linalg.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// An array of vectors. Integer arithmetic wraps.
template <typename T>
struct VectorOperand {
  using C = std::conditional_t<std::is_integral_v<T>, std::make_unsigned<T>,
                               std::type_identity<compute_t<T>>>::type;
  const T* data;
  bool conjugated = false;

  PHI_HD C at(int64_t i) const {
    const auto value = static_cast<C>(data[i]);
    if constexpr (kIsComplex<T>) {
      if (conjugated) return conj(value);
    }
    return value;
  }
};

/// Element i of x cross y. The three elements of a vector are `inner` apart.
template <typename T>
struct CrossElement {
  VectorOperand<T> x;
  VectorOperand<T> y;
  int64_t inner;
  PHI_HD T operator()(int64_t i) const {
    const int64_t row = i / inner;
    const int64_t e = row % 3;
    const int64_t first = (row - e) * inner + i - row * inner;
    const int64_t next = first + (e + 1) % 3 * inner;
    const int64_t last = first + (e + 2) % 3 * inner;
    return static_cast<T>(x.at(next) * y.at(last) - x.at(last) * y.at(next));
  }
};

template <typename T>
void cross(const GpuContext& ctx, const VectorOperand<T>& x, const VectorOperand<T>& y,
           const Dims& dims, int axis, DenseTensor* out) {
  index_loop(ctx, out->mutable_data<T>(), out->numel(),
             CrossElement<T>{x, y, dims.numel(axis + 1, dims.ndim())});
}

}  // namespace

template <typename T, typename Context>
void CrossKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y, int axis,
                 DenseTensor* out) {
  // The axis is found from the global shape: by default the first tensor dim of extent 3.
  const int at = cross_axis(ctx.input_box(0, x.dims()).global, axis);
  cross<T>(ctx, {x.data<T>()}, {y.data<T>()}, x.dims(), at, out);
}

/// x_grad = y x out_grad and y_grad = out_grad x x.
template <typename T, typename Context>
void CrossGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                     const DenseTensor& out_grad, int axis, DenseTensor* x_grad,
                     DenseTensor* y_grad) {
  const int at = cross_axis(ctx.input_box(0, x.dims()).global, axis);
  const VectorOperand<T> g{out_grad.data<T>()};
  if (x_grad) cross<T>(ctx, {y.data<T>(), true}, g, x.dims(), at, x_grad);
  if (y_grad) cross<T>(ctx, g, {x.data<T>(), true}, x.dims(), at, y_grad);
}

using GpuCrossTypes = join_t<SignedNumbers, Complexes>;
using GpuCrossGradTypes = join_t<Floats, Complexes>;
PHI_REGISTER_KERNEL(cross, GPU, CrossKernel, GpuCrossTypes);
PHI_REGISTER_KERNEL(cross_grad, GPU, CrossGradKernel, GpuCrossGradTypes);

}  // namespace phi
