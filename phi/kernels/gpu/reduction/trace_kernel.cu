// trace and its gradient on GPUs: sums over diagonals of two tensor dims.
#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/lines.h"
#include "phi/kernels/real_type.h"

namespace phi {
namespace {

/// Diagonals as lines, one for each index of the other tensor dims. Element k is at offset at(k)
/// from a line's start.
struct Diagonals {
  int64_t count = 1;
  int64_t n = 0;
  int64_t first = 0;
  int64_t step = 0;
  gpu::Walk<1> others;

  Diagonals(const Dims& dims, int offset, int axis1, int axis2) {
    const int rows = normalise_axis(axis1, dims.ndim(), dims, "axis1");
    const int columns = normalise_axis(axis2, dims.ndim(), dims, "axis2");
    const Dims strides = dims.strides();
    const int64_t down = std::max<int64_t>(0, -int64_t{offset});
    const int64_t right = std::max<int64_t>(0, offset);
    n = std::max<int64_t>(0, std::min(dims[rows] - down, dims[columns] - right));
    first = n == 0 ? 0 : down * strides[rows] + right * strides[columns];
    step = strides[rows] + strides[columns];
    for (int d = dims.ndim() - 1; d >= 0; --d) {
      if (d == rows || d == columns) continue;
      count *= dims[d];
      if (dims[d] != 1) others.append(dims[d], {strides[d]});
    }
  }
  PHI_HD int64_t start(int64_t line) const { return first + others.offsets(line).at[0]; }
  PHI_HD int64_t at(int64_t k) const { return k * step; }
  bool is_contiguous() const { return false; }
};

/// Dims with complex numbers viewed as pairs of real numbers, in one more tensor dim.
template <typename T>
Dims parts_of(Dims dims) {
  if constexpr (kIsComplex<T>) dims.push_back(2);
  return dims;
}

template <typename T>
struct TraceLine {
  Diagonals lines;
  const T* x;
  T* out;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using R = SumReducer<T>;
    const int64_t first = lines.start(line);
    typename R::State sum = R::kIdentity;
    for (int64_t k = team.index(); k < lines.n; k += Team::kSize) {
      const auto value = static_cast<compute_t<T>>(x[first + lines.at(k)]);
      sum = R::carry(sum, static_cast<typename R::value_type>(value));
    }
    sum = team.template join<R>(sum);
    if (team.index() == 0) out[line] = convert_value<T>(sum);
  }
};

template <typename T>
struct TraceGradLine {
  Diagonals lines;
  const T* out_grad;
  T* x_grad;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const int64_t first = lines.start(line);
    team.each(lines.n, [&](int64_t k) { x_grad[first + lines.at(k)] = out_grad[line]; });
  }
};

}  // namespace

template <typename T, typename Context>
void TraceKernel(const Context& ctx, const DenseTensor& x, int offset, int axis1, int axis2,
                 DenseTensor* out) {
  using Part = real_t<T>;
  const Diagonals lines(parts_of<T>(x.dims()), offset, normalise_axis(axis1, x.ndim(), x.dims()),
                        normalise_axis(axis2, x.ndim(), x.dims()));
  gpu::for_each_line(ctx, lines,
                     TraceLine<Part>{lines, static_cast<const Part*>(x.raw_data()),
                                     static_cast<Part*>(out->mutable_raw_data())});
}

template <typename T, typename Context>
void TraceGradKernel(const Context& ctx, const DenseTensor& out_grad, int offset, int axis1,
                     int axis2, DenseTensor* x_grad) {
  const Diagonals lines(x_grad->dims(), offset, axis1, axis2);
  T* const to = x_grad->mutable_data<T>();
  fill(ctx, to, x_grad->numel(), T(0));
  gpu::for_each_line(ctx, lines, TraceGradLine<T>{lines, out_grad.data<T>(), to});
}

using GpuTraceTypes = join_t<Integers, Inexact>;

PHI_REGISTER_KERNEL(trace, GPU, TraceKernel, GpuTraceTypes);
PHI_REGISTER_KERNEL(trace_grad, GPU, TraceGradKernel, Inexact);

}  // namespace phi
