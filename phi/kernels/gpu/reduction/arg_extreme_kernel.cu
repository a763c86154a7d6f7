// argmax and argmin on GPUs.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/gpu/lines.h"

namespace phi {
namespace {

struct Largest {
  template <typename C>
  PHI_HD static bool precedes(C a, C b) {
    return a > b;
  }
};

struct Smallest {
  template <typename C>
  PHI_HD static bool precedes(C a, C b) {
    return a < b;
  }
};

template <typename C>
struct Best {
  C value;
  int64_t index;  // -1: there is none yet
};

/// The best element, or a NaN; the first of equal ones. Whatever the order, the same comes out.
template <typename R, typename C>
struct BestReducer {
  using Acc = Best<C>;
  static constexpr Acc kIdentity{C(0), -1};
  PHI_HD static Acc join(Acc a, Acc b) {
    if (a.index < 0) return b;
    if (b.index < 0) return a;
    const bool a_is_nan = a.value != a.value;
    const bool b_is_nan = b.value != b.value;
    if (a_is_nan != b_is_nan) return a_is_nan ? a : b;
    if (R::precedes(a.value, b.value)) return a;
    if (R::precedes(b.value, a.value)) return b;
    return a.index < b.index ? a : b;
  }
};

/// Indices go to an array of int32 or int64.
template <typename R, typename T>
struct ArgExtremeLine {
  using C = compute_t<T>;
  const T* x;
  int32_t* narrow;
  int64_t* wide;
  gpu::AxisLines lines;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t line) const {
    using Reducer = BestReducer<R, C>;
    const T* first = x + lines.start(line);
    Best<C> best = Reducer::kIdentity;
    for (int64_t k = team.index(); k < lines.n; k += Team::kSize) {
      best = Reducer::join(best, {static_cast<C>(first[lines.at(k)]), k});
    }
    best = team.template join<Reducer>(best);
    if (team.index() != 0) return;
    if (narrow) {
      narrow[line] = static_cast<int32_t>(best.index);
    } else {
      wide[line] = best.index;
    }
  }
};

template <typename R, typename T>
void arg_extreme(const GpuContext& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                 DenseTensor* out) {
  if (x.numel() == 0) return;
  const auto lines =
      flatten ? gpu::AxisLines::rows(1, x.numel()) : gpu::AxisLines(x.dims(), axis.to<int64_t>());
  const bool is_narrow = out->dtype() == DataType::INT32;
  for_each_line(
      ctx, lines,
      ArgExtremeLine<R, T>{x.data<T>(), is_narrow ? out->mutable_data<int32_t>() : nullptr,
                           is_narrow ? nullptr : out->mutable_data<int64_t>(), lines});
}

}  // namespace

/// The first index of the largest element (of the first NaN, if any); out is int32 or int64.
template <typename T, typename Context>
void ArgMaxKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<Largest, T>(ctx, x, axis, flatten, out);
}

/// The same of the smallest.
template <typename T, typename Context>
void ArgMinKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  DenseTensor* out) {
  arg_extreme<Smallest, T>(ctx, x, axis, flatten, out);
}

PHI_REGISTER_KERNEL(argmax, GPU, ArgMaxKernel, Numbers);
PHI_REGISTER_KERNEL(argmin, GPU, ArgMinKernel, Numbers);

}  // namespace phi
