// log-sum-exp over some tensor dims on GPUs.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/functors/fast_math.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

/// Relative to the largest element of a line, if that is a number.
template <typename T>
struct LogSumExpLine {
  using C = compute_t<T>;
  const T* x;
  T* out;
  gpu::WalkLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    const T* first = x + lines.start(line);
    const auto value = [&](int64_t k) { return static_cast<C>(first[lines.at(k)]); };
    const C most = team.template largest<C>(lines.n, value);
    const C result =
        std::isfinite(most) ? most + rest(team, value, most) : not_finite(team, value, most);
    if (team.index() == 0) out[line] = static_cast<T>(result);
  }
  template <typename Team, typename Value>
  __device__ C rest(const Team& team, const Value& value, C most) const {
    return std::log(team.template sum<C>(
        lines.n, [&](int64_t k) { return fast::exp_or_zero(value(k) - most); }));
  }
  template <typename Team, typename Value>
  __device__ C not_finite(const Team& team, const Value& value, C most) const {
    const C nans = team.template sum<C>(
        lines.n, [&](int64_t k) { return value(k) != value(k) ? C(1) : C(0); });
    return nans > C(0) ? std::numeric_limits<C>::quiet_NaN() : most;
  }
};

}  // namespace

template <typename T, typename Context>
void LogsumexpKernel(const Context& ctx, const DenseTensor& x, const std::vector<int64_t>& axis,
                     bool reduce_all, DenseTensor* out) {
  const gpu::WalkLines lines(x.dims(),
                             normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()));
  for_each_line(ctx, lines, LogSumExpLine<T>{x.data<T>(), out->mutable_data<T>(), lines});
}

PHI_REGISTER_KERNEL(logsumexp, GPU, LogsumexpKernel, Floats);

}  // namespace phi
