// log-sum-exp over some tensor dims on GPUs.
#include <cmath>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/norms.h"
#include "phi/kernels/gpu/reduce.h"

namespace phi {
namespace {

/// sum * exp(most): the sum of exponentials, relative to the largest of what was joined. A NaN
/// makes the sum NaN.
template <typename C, typename Sum>
struct ScaledSum {
  C most;
  Sum sum;
  template <typename Other>
  PHI_HD explicit constexpr operator ScaledSum<C, Other>() const {
    return {most, static_cast<Other>(sum)};
  }
};

template <typename T>
struct LogSumExpReducer {
  using C = compute_t<T>;
  using Lane = ScaledSum<C, C>;
  using Acc = ScaledSum<C, double>;
  /// Of nothing. Not -inf, whose difference to itself is NaN.
  static constexpr Lane kIdentity = {std::numeric_limits<C>::lowest(), 0};

  PHI_HD static Lane lift(C x) { return {x, C(1)}; }
  template <typename Sum, typename Other>
  PHI_HD static ScaledSum<C, Sum> join(const ScaledSum<C, Sum>& a, const Other& b) {
    // Two infinities of one sign are as far as any other value is from itself.
    const C by = a.most == b.most ? C(0) : b.most - a.most;
    const auto less = static_cast<Sum>(std::exp(by > 0 ? -by : by));
    const auto sum = static_cast<Sum>(b.sum);
    if (by > 0) return {b.most, a.sum * less + sum};
    return {a.most, a.sum + sum * less};
  }
  PHI_HD static Acc carry(const Acc& a, const Lane& b) { return join(a, b); }
};

template <typename C>
struct LogOfSum {
  PHI_HD C operator()(const ScaledSum<C, double>& of) const {
    return of.most + std::log(static_cast<C>(of.sum));
  }
};

}  // namespace

template <typename T, typename Context>
void LogsumexpKernel(const Context& ctx, const DenseTensor& x, const std::vector<int64_t>& axis,
                     bool reduce_all, DenseTensor* out) {
  reduce<LogSumExpReducer<T>>(ctx, x.data<T>(), x.dims(),
                              normalise_axes(reduce_all ? IntArray() : IntArray(axis), x.dims()),
                              out->mutable_data<T>(), LogOfSum<compute_t<T>>());
}

PHI_REGISTER_KERNEL(logsumexp, GPU, LogsumexpKernel, Floats);

}  // namespace phi
