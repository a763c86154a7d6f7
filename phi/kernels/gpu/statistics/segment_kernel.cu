// segment_pool and its gradient on GPUs: rows with equal sorted ids are combined. The host
// synchronises with the GPU for the largest id and the check of the order.
#include <limits>
#include <string>

#include "phi/common/errors.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/partition_point.h"
#include "phi/kernels/gpu/value_on_host.h"
#include "phi/kernels/indices.h"

namespace phi {
namespace {

constexpr int64_t kMostSegments = int64_t{1} << 40;
constexpr int64_t kNone = std::numeric_limits<int64_t>::max();

/// The position of an id that is negative, smaller than its predecessor, or too large for any
/// memory.
struct WrongAt {
  const int64_t* ids;
  PHI_HD int64_t operator()(int64_t i) const {
    const int64_t before = i == 0 ? 0 : ids[i - 1];
    return ids[i] >= before && ids[i] < kMostSegments ? kNone : i;
  }
};

DenseTensor wide_ids(const GpuContext& ctx, const DenseTensor& ids) {
  DenseTensor wide = DenseTensor::empty({ids.dims(), DataType::INT64}, ctx.place());
  visit_indices(ids, [&]<typename Id>(const Id* from) {
    convert(ctx, from, wide.mutable_data<int64_t>(), ids.numel());
  });
  return wide;
}

/// The number of segments. Errors: InvalidArgument for ids that are negative, decreasing, or too
/// large for any memory.
int64_t segments_of(const GpuContext& ctx, const DenseTensor& ids) {
  const int64_t n = ids.numel();
  if (n == 0) return 0;
  DenseTensor wrong = DenseTensor::empty({{n}, DataType::INT64}, ctx.place());
  auto* places = wrong.mutable_data<int64_t>();
  index_loop(ctx, places, n, WrongAt{ids.data<int64_t>()});
  DenseTensor first = DenseTensor::empty({{}, DataType::INT64}, ctx.place());
  reduce_all<MinReducer<int64_t>>(ctx, places, n, first.mutable_data<int64_t>());
  const auto at = gpu::value_on_host<int64_t>(first);
  if (at != kNone) {
    throw errors::InvalidArgument(
        "segment_ids hold {} at position {} after {}, but they must not decrease, from 0 on and "
        "below {}; sort them.",
        gpu::value_on_host<int64_t>(ids, at), at,
        at == 0 ? 0 : gpu::value_on_host<int64_t>(ids, at - 1), kMostSegments);
  }
  return gpu::value_on_host<int64_t>(ids, n - 1) + 1;
}

/// The range of rows of a segment.
struct Segments {
  const int64_t* ids;
  int64_t rows;
  PHI_HD int64_t begin(int64_t segment) const {
    return gpu::partition_point(rows, [&](int64_t i) { return ids[i] < segment; });
  }
};

/// Element i of [segments, width]: the combined rows of the segment, in their order.
template <typename R, typename T>
struct PoolSegment {
  const T* x;
  Segments segments;
  int64_t width;
  bool mean;
  PHI_HD T operator()(int64_t i) const {
    using Acc = typename R::State;
    const int64_t segment = i / width;
    const int64_t column = i - segment * width;
    const int64_t begin = segments.begin(segment);
    const int64_t end = segments.begin(segment + 1);
    if (begin == end) return T(0.0f);
    Acc value = R::kIdentity;
    for (int64_t row = begin; row < end; ++row) {
      const auto element = static_cast<compute_t<T>>(x[row * width + column]);
      value = R::carry(value, static_cast<typename R::value_type>(element));
    }
    return convert_value<T>(mean ? value / static_cast<Acc>(end - begin) : value);
  }
};

enum class SegmentGradMode : uint8_t { kWhole, kMean, kWhereChosen };

template <typename T>
struct SegmentGradient {
  const T* x;
  const T* out;
  const T* out_grad;
  Segments segments;
  int64_t count;
  int64_t width;
  SegmentGradMode mode;
  PHI_HD T operator()(int64_t i) const {
    using C = compute_t<T>;
    const int64_t row = i / width;
    const int64_t segment = segments.ids[row];
    if (segment < 0 || segment >= count) return T(0.0f);
    const int64_t from = segment * width + i - row * width;
    if (mode == SegmentGradMode::kWhereChosen &&
        static_cast<C>(x[i]) != static_cast<C>(out[from])) {
      return T(0.0f);
    }
    const auto gradient = static_cast<C>(out_grad[from]);
    if (mode != SegmentGradMode::kMean) return static_cast<T>(gradient);
    const int64_t rows = segments.begin(segment + 1) - segments.begin(segment);
    return static_cast<T>(gradient / static_cast<C>(rows));
  }
};

}  // namespace

template <typename T, typename Context>
void SegmentPoolKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& segment_ids,
                       const std::string& pooltype, DenseTensor* out) {
  const DenseTensor ids = wide_ids(ctx, segment_ids);
  Dims dims = x.dims();
  dims[0] = segments_of(ctx, ids);
  *out = DenseTensor::empty({dims, x.dtype(), out->meta().layout}, ctx.place());
  const Segments segments{ids.data<int64_t>(), ids.numel()};
  const int64_t width = dims.numel(1, dims.ndim());
  const auto pool = [&]<typename R>(R, bool mean) {
    index_loop(ctx, out->mutable_data<T>(), out->numel(),
               PoolSegment<R, T>{x.data<T>(), segments, width, mean});
  };
  if (pooltype == "MAX") return pool(MaxReducer<T>(), false);
  if (pooltype == "MIN") return pool(MinReducer<T>(), false);
  pool(SumReducer<T>(), pooltype == "MEAN");
}

/// The forward call has rejected decreasing ids.
template <typename T, typename Context>
void SegmentPoolGradKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& segment_ids,
                           const DenseTensor& out, const DenseTensor& out_grad,
                           const std::string& pooltype, DenseTensor* x_grad) {
  const DenseTensor ids = wide_ids(ctx, segment_ids);
  const bool chooses = pooltype == "MAX" || pooltype == "MIN";
  const SegmentGradMode mode = chooses              ? SegmentGradMode::kWhereChosen
                               : pooltype == "MEAN" ? SegmentGradMode::kMean
                                                    : SegmentGradMode::kWhole;
  index_loop(ctx, x_grad->mutable_data<T>(), x_grad->numel(),
             SegmentGradient<T>{x.data<T>(),
                                out.data<T>(),
                                out_grad.data<T>(),
                                {ids.data<int64_t>(), ids.numel()},
                                out.dims()[0],
                                x.dims().numel(1, x.ndim()),
                                mode});
}

PHI_REGISTER_KERNEL(segment_pool, GPU, SegmentPoolKernel, SignedNumbers);
PHI_REGISTER_KERNEL(segment_pool_grad, GPU, SegmentPoolGradKernel, Floats);

}  // namespace phi
