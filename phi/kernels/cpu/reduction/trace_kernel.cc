// trace and its gradient on the CPU: sums over a diagonal of two tensor dims.
#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/strided_walk.h"

namespace phi {
namespace {

/// The offset, stride and length of the diagonal of an array. `others` walks the remaining tensor
/// dims.
struct Diagonal {
  Diagonal(const Dims& dims, int offset, int axis1, int axis2) {
    const int rows = normalise_axis(axis1, dims.ndim(), dims, "axis1");
    const int columns = normalise_axis(axis2, dims.ndim(), dims, "axis2");
    const Dims strides = dims.strides();
    const int64_t down = std::max<int64_t>(0, -int64_t{offset});
    const int64_t right = std::max<int64_t>(0, offset);
    count = std::max<int64_t>(0, std::min(dims[rows] - down, dims[columns] - right));
    first = count == 0 ? 0 : down * strides[rows] + right * strides[columns];
    step = strides[rows] + strides[columns];
    for (int d = 0; d < dims.ndim(); ++d) {
      if (d != rows && d != columns) others.append(dims[d], {strides[d]});
    }
  }
  int64_t first;
  int64_t step;
  int64_t count;
  StridedWalk<1> others;
};

}  // namespace

template <typename T, typename Context>
void TraceKernel(const Context&, const DenseTensor& x, int offset, int axis1, int axis2,
                 DenseTensor* out) {
  using Sum = SumScan<compute_t<T>>;
  const Diagonal diagonal(x.dims(), offset, axis1, axis2);
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  diagonal.others.for_each([&](const std::array<int64_t, 1>& at) {
    typename Sum::State sum = Sum::start();
    for (int64_t k = 0; k < diagonal.count; ++k) {
      const T value = from[at[0] + diagonal.first + k * diagonal.step];
      sum = Sum::join(sum, static_cast<compute_t<T>>(value));
    }
    *to++ = static_cast<T>(Sum::value(sum));
  });
}

template <typename T, typename Context>
void TraceGradKernel(const Context&, const DenseTensor& out_grad, int offset, int axis1, int axis2,
                     DenseTensor* x_grad) {
  const Diagonal diagonal(x_grad->dims(), offset, axis1, axis2);
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T(0));
  const T* grads = out_grad.data<T>();
  diagonal.others.for_each([&](const std::array<int64_t, 1>& at) {
    const T grad = *grads++;
    for (int64_t k = 0; k < diagonal.count; ++k)
      to[at[0] + diagonal.first + k * diagonal.step] = grad;
  });
}

using CpuTraceTypes = join_t<Integers, Inexact>;

PHI_REGISTER_KERNEL(trace, CPU, TraceKernel, CpuTraceTypes);
PHI_REGISTER_KERNEL(trace_grad, CPU, TraceGradKernel, Inexact);

}  // namespace phi
