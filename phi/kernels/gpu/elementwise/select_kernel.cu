// where, add_n and lerp on GPUs. Inputs broadcast to out's dims; out may be the first input.
#include <algorithm>
#include <span>

#include "phi/generated/kernels/elementwise.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/functors/elementwise/binary.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

struct SelectFunctor {
  template <typename W>
  PHI_HD W operator()(bool condition, W x, W y) const {
    return condition ? x : y;
  }
};

template <typename W>
struct SelectAt {
  const bool* condition;
  const W* x;
  const W* y;
  gpu::Walk<3> walk;
  PHI_HD W operator()(int64_t i) const {
    const gpu::WalkOffsets<3> at = walk.offsets(i);
    return SelectFunctor()(condition[at.at[0]], x[at.at[1]], y[at.at[2]]);
  }
};

/// Number of inputs added in one pass.
constexpr int kTerms = 32;

/// The sum of `terms` arrays, plus `before` if it is not null.
template <typename T>
struct SumOfTerms {
  using C = compute_t<T>;
  const T* x[kTerms];
  int terms;
  const C* before;
  PHI_HD C operator()(int64_t i) const {
    C sum = before ? before[i] : static_cast<C>(x[0][i]);
    for (int k = before ? 0 : 1; k < terms; ++k) {
      sum = AddFunctor<C>()(sum, static_cast<C>(x[k][i]));
    }
    return sum;
  }
};

template <typename T>
struct RoundedSum {
  SumOfTerms<T> sum;
  PHI_HD T operator()(int64_t i) const { return static_cast<T>(sum(i)); }
};

/// SumOfTerms for a pack of adjacent elements, without `before`.
template <typename T, int kWidth>
struct PackOfSums {
  using C = compute_t<T>;
  SumOfTerms<T> sum;
  __device__ gpu::Pack<T, kWidth> operator()(int64_t i) const {
    gpu::Pack<C, kWidth> sums;
    for (int k = 0; k < sum.terms; ++k) {
      const gpu::Pack<T, kWidth> term = gpu::pack_at<kWidth>(sum.x[k], i);
      PHI_UNROLL(16)
      for (int e = 0; e < kWidth; ++e) {
        const auto value = static_cast<C>(term.element[e]);
        sums.element[e] = k == 0 ? value : AddFunctor<C>()(sums.element[e], value);
      }
    }
    gpu::Pack<T, kWidth> rounded;
    PHI_UNROLL(16)
    for (int e = 0; e < kWidth; ++e) rounded.element[e] = static_cast<T>(sums.element[e]);
    return rounded;
  }
};

template <typename T>
void add_terms(const GpuContext& ctx, const SumOfTerms<T>& sum, T* out, int64_t n) {
  constexpr int kWidth = gpu::pack_width(sizeof(T));
  if constexpr (kWidth > 1) {
    bool in_packs = n % kWidth == 0 && !sum.before && gpu::are_pack_aligned<kWidth>(out);
    for (int k = 0; k < sum.terms; ++k) in_packs &= gpu::are_pack_aligned<kWidth>(sum.x[k]);
    if (in_packs) {
      return index_loop(ctx, reinterpret_cast<gpu::Pack<T, kWidth>*>(out), n / kWidth,
                        PackOfSums<T, kWidth>{sum});
    }
  }
  index_loop(ctx, out, n, RoundedSum<T>{sum});
}

struct LerpFunctor {
  template <typename C>
  PHI_HD C operator()(C a, C b, C weight) const {
    return a + weight * (b - a);
  }
};

}  // namespace

/// x where `condition` (bool), else y.
template <typename T, typename Context>
void WhereKernel(const Context& ctx, const DenseTensor& condition, const DenseTensor& x,
                 const DenseTensor& y, DenseTensor* out) {
  using W = width_t<T>;
  const auto* c = static_cast<const bool*>(condition.raw_data());
  const auto* a = static_cast<const W*>(x.raw_data());
  const auto* b = static_cast<const W*>(y.raw_data());
  auto* to = static_cast<W*>(out->mutable_raw_data());
  const Dims& dims = out->dims();
  if (condition.dims() == dims && x.dims() == dims && y.dims() == dims) {
    return gpu::map(ctx, to, dims.numel(), SelectFunctor(), c, a, b);
  }
  const auto walk = gpu::broadcast_walk<3>({&condition.dims(), &x.dims(), &y.dims()}, dims);
  index_loop(ctx, to, dims.numel(), SelectAt<W>{c, a, b, walk});
}

/// The sum of `inputs`, which all have out's dims. Half precision is added in float and rounded
/// once.
template <typename T, typename Context>
void AddNKernel(const Context& ctx, std::span<const DenseTensor* const> inputs, DenseTensor* out) {
  using C = compute_t<T>;
  const int64_t n = out->numel();
  DenseTensor running;
  while (true) {
    SumOfTerms<T> sum{};
    sum.before = running.defined() ? running.data<C>() : nullptr;
    const auto here = inputs.first(std::min<size_t>(kTerms, inputs.size()));
    for (const DenseTensor* input : here) sum.x[sum.terms++] = input->data<T>();
    inputs = inputs.subspan(here.size());
    if (inputs.empty()) return add_terms(ctx, sum, out->mutable_data<T>(), n);
    DenseTensor next = DenseTensor::empty({out->dims(), dtype_of<C>()}, ctx.place());
    index_loop(ctx, next.mutable_data<C>(), n, sum);
    running = next;
  }
}

/// x + weight * (y - x).
template <typename T, typename Context>
void LerpKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& y,
                const DenseTensor& weight, DenseTensor* out) {
  nary_loop<T>(ctx, {&x, &y, &weight}, out, LerpFunctor());
}

PHI_REGISTER_KERNEL(lerp, GPU, LerpKernel, Floats);
PHI_REGISTER_KERNEL(where, GPU, WhereKernel, EveryType);
PHI_REGISTER_KERNEL(add_n, GPU, AddNKernel, EveryType);

}  // namespace phi
