// Cumulative sums, products and sums of exponentials on GPUs.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/scan.h"
#include "phi/kernels/functors/scan.h"
#include "phi/kernels/gpu/scan/scan_lines.h"

namespace phi {
namespace {

/// The lines, each in parts of `size` elements, so that a few long ones keep a GPU busy.
struct LineParts {
  gpu::AxisLines lines;
  int64_t count = 1;  // of a line
  int64_t size;

  LineParts(const GpuContext& ctx, const gpu::AxisLines& of) : lines(of), size(of.n) {
    constexpr int64_t kLeast = 4096;  // elements of a part
    constexpr int64_t kMost = 128;    // states that each block goes through
    const int64_t busy = 2 * int64_t{gpu::GpuDevice::of(ctx.place()).multiprocessors()};
    const int64_t wanted = std::min({busy / lines.count, lines.n / kLeast, kMost});
    if (wanted <= 1) return;
    size = (lines.n + wanted - 1) / wanted;
    count = (lines.n + size - 1) / size;
  }

  __device__ int64_t begin(int64_t item) const { return item % count * size; }
  __device__ int64_t length(int64_t item) const {
    const int64_t left = lines.n - begin(item);
    return left < size ? left : size;
  }
};

/// x as states of single elements.
template <typename Scan, typename T>
struct StatesOf {
  const T* x;
  LineParts parts;
  bool reverse;

  /// Of element k of part `item`, counted from the end it begins at.
  __device__ int64_t place(int64_t item, int64_t k) const {
    const gpu::AxisLines& lines = parts.lines;
    const int64_t at = parts.begin(item) + k;
    return lines.start(item / parts.count) + lines.at(reverse ? lines.n - 1 - at : at);
  }
  __device__ auto at(int64_t item, int64_t k) const {
    return Scan::join(Scan::start(), static_cast<compute_t<T>>(x[place(item, k)]));
  }
};

template <typename Scan>
struct MergeReducer {
  using Acc = typename Scan::State;
  static constexpr Acc kIdentity = Scan::start();
  PHI_HD static Acc join(const Acc& a, const Acc& b) { return Scan::merge(a, b); }
};

/// totals[item] = the states of a part, merged.
template <typename Scan, typename T>
struct MergePart {
  StatesOf<Scan, T> states;
  typename Scan::State* totals;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t item) const {
    auto total = Scan::start();
    team.each(states.parts.length(item),
              [&](int64_t k) { total = Scan::merge(total, states.at(item, k)); });
    total = team.template join<MergeReducer<Scan>>(total);
    if (team.index() == 0) totals[item] = total;
  }
};

/// out may be x: each thread writes what it alone has read.
template <typename Scan, typename T>
struct ScanPart {
  StatesOf<Scan, T> states;
  const typename Scan::State* totals;  // of all parts; null: lines have one
  T* out;
  bool exclusive;

  template <typename Team>
  __device__ void operator()(const Team& team, int64_t item) const {
    auto before_part = Scan::start();
    for (int64_t p = item - item % states.parts.count; totals && p < item; ++p)
      before_part = Scan::merge(before_part, totals[p]);
    gpu::scan_line<Scan>(
        team, states.parts.length(item), [&](int64_t k) { return states.at(item, k); },
        [&](int64_t k, const auto& before, const auto& joined) {
          out[states.place(item, k)] = static_cast<T>(Scan::value(exclusive ? before : joined));
        },
        before_part);
  }
};

/// op(team, item) for each part of each line, a block for each.
template <typename Op>
void for_each_part(const GpuContext& ctx, int64_t count, const Op& op) {
  gpu::launch(ctx, gpu::run_lines<gpu::kBlock, Op>, gpu::blocks_for_lines(ctx, count, gpu::kBlock),
              gpu::kBlock, count, op);
}

template <template <typename> typename ScanOf, typename T>
void scan(const GpuContext& ctx, const DenseTensor& x, int64_t axis, bool flatten, bool exclusive,
          bool reverse, DenseTensor* out) {
  using Scan = ScanOf<compute_t<T>>;
  using State = typename Scan::State;
  if (x.numel() == 0) return;
  const auto lines = flatten ? gpu::AxisLines::rows(1, x.numel()) : gpu::AxisLines(x.dims(), axis);
  const LineParts parts(ctx, lines);
  const StatesOf<Scan, T> states{x.data<T>(), parts, reverse};
  T* const to = out->mutable_data<T>();
  if (parts.count == 1)
    return for_each_line(ctx, lines, ScanPart<Scan, T>{states, nullptr, to, exclusive});
  const int64_t count = lines.count * parts.count;
  const auto bytes = count * static_cast<int64_t>(sizeof(State));
  DenseTensor memory = DenseTensor::empty({{bytes}, DataType::UINT8}, ctx.place());
  auto* const totals = static_cast<State*>(memory.mutable_raw_data());
  for_each_part(ctx, count, MergePart<Scan, T>{states, totals});
  for_each_part(ctx, count, ScanPart<Scan, T>{states, totals, to, exclusive});
}

}  // namespace

template <typename T, typename Context>
void CumsumKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis, bool flatten,
                  bool exclusive, bool reverse, DenseTensor* out) {
  scan<SumScan, T>(ctx, x, axis.to<int64_t>(), flatten, exclusive, reverse, out);
}

template <typename T, typename Context>
void CumprodKernel(const Context& ctx, const DenseTensor& x, int dim, bool exclusive, bool reverse,
                   DenseTensor* out) {
  scan<ProdScan, T>(ctx, x, dim, false, exclusive, reverse, out);
}

template <typename T, typename Context>
void LogcumsumexpKernel(const Context& ctx, const DenseTensor& x, int axis, bool flatten,
                        bool exclusive, bool reverse, DenseTensor* out) {
  scan<LogSumExpScan, T>(ctx, x, axis, flatten, exclusive, reverse, out);
}

PHI_REGISTER_KERNEL(cumsum, GPU, CumsumKernel, Numbers);
PHI_REGISTER_KERNEL(cumprod, GPU, CumprodKernel, Numbers);
PHI_REGISTER_KERNEL(logcumsumexp, GPU, LogcumsumexpKernel, Floats);

}  // namespace phi
