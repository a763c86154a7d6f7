// segment_pool and its gradient on the CPU: combines the rows of equal ids, which are sorted.
#include <algorithm>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/statistics.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

constexpr int64_t kMostSegments = int64_t{1} << 40;

/// Returns the first row of each segment, followed by the number of rows.
///
/// Errors   InvalidArgument for ids that are negative, descend, or are too large for any memory.
template <typename Id>
std::vector<int64_t> segment_starts(const Id* ids, int64_t n) {
  std::vector<int64_t> starts;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t id = ids[i];
    const int64_t before = i == 0 ? 0 : ids[i - 1];
    PHI_CHECK(id >= before && id < kMostSegments,
              errors::InvalidArgument("segment_ids hold {} at position {} after {}, but they must "
                                      "not decrease, from 0 on and below {}; sort them.",
                                      id, i, before, kMostSegments));
    while (static_cast<int64_t>(starts.size()) <= id) starts.push_back(i);
  }
  starts.push_back(n);
  return starts;
}

std::vector<int64_t> segment_starts(const DenseTensor& ids) {
  if (ids.dtype() == DataType::INT32) return segment_starts(ids.data<int32_t>(), ids.numel());
  return segment_starts(ids.data<int64_t>(), ids.numel());
}

/// Combines each segment's rows of `width` elements.
template <typename R, typename T>
void pool_segments(const T* x, const std::vector<int64_t>& starts, int64_t width, bool mean,
                   T* out) {
  using Acc = typename R::State;
  std::vector<Acc> row(static_cast<size_t>(width));
  for (size_t s = 0; s + 1 < starts.size(); ++s) {
    const int64_t count = starts[s + 1] - starts[s];
    std::fill(row.begin(), row.end(), count == 0 ? Acc(0) : Acc(R::kIdentity));
    for (int64_t i = starts[s]; i < starts[s + 1]; ++i) {
      const T* from = x + i * width;
      for (int64_t c = 0; c < width; ++c)
        row[c] = R::carry(row[c],
                          static_cast<typename R::value_type>(static_cast<compute_t<T>>(from[c])));
    }
    for (int64_t c = 0; c < width; ++c) {
      const Acc value = mean && count > 0 ? row[c] / static_cast<Acc>(count) : row[c];
      out[static_cast<int64_t>(s) * width + c] = convert_value<T>(value);
    }
  }
}

}  // namespace

/// out has one row per id up to the largest, 0 for an id without rows. `pooltype` is SUM, MEAN, MAX
/// or MIN.
///
/// Errors   InvalidArgument for ids that are negative or descend.
template <typename T, typename Context>
void SegmentPoolKernel(const Context&, const DenseTensor& x, const DenseTensor& segment_ids,
                       const std::string& pooltype, DenseTensor* out) {
  const std::vector<int64_t> starts = segment_starts(segment_ids);
  Dims dims = x.dims();
  dims[0] = static_cast<int64_t>(starts.size()) - 1;
  *out = DenseTensor::empty({dims, x.dtype(), out->meta().layout}, x.place());
  const int64_t width = x.dims().numel(1, x.ndim());
  const T* from = x.data<T>();
  T* to = out->mutable_data<T>();
  if (pooltype == "MAX") return pool_segments<MaxReducer<T>>(from, starts, width, false, to);
  if (pooltype == "MIN") return pool_segments<MinReducer<T>>(from, starts, width, false, to);
  pool_segments<SumReducer<T>>(from, starts, width, pooltype == "MEAN", to);
}

/// Each row gets its segment's gradient: for MEAN divided by the number of rows, for MAX and MIN
/// only where the row has the chosen element.
template <typename T, typename Context>
void SegmentPoolGradKernel(const Context&, const DenseTensor& x, const DenseTensor& segment_ids,
                           const DenseTensor& out, const DenseTensor& out_grad,
                           const std::string& pooltype, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const std::vector<int64_t> starts = segment_starts(segment_ids);
  const int64_t width = x.dims().numel(1, x.ndim());
  const bool chooses = pooltype == "MAX" || pooltype == "MIN";
  for (size_t s = 0; s + 1 < starts.size(); ++s) {
    const T* grads = out_grad.data<T>() + static_cast<int64_t>(s) * width;
    const T* outs = out.data<T>() + static_cast<int64_t>(s) * width;
    const auto count = pooltype == "MEAN" ? static_cast<C>(starts[s + 1] - starts[s]) : C(1);
    for (int64_t i = starts[s]; i < starts[s + 1]; ++i) {
      const T* from = x.data<T>() + i * width;
      T* to = x_grad->mutable_data<T>() + i * width;
      for (int64_t c = 0; c < width; ++c) {
        const bool takes_part = !chooses || static_cast<C>(from[c]) == static_cast<C>(outs[c]);
        to[c] = takes_part ? static_cast<T>(static_cast<C>(grads[c]) / count) : T(0);
      }
    }
  }
}

PHI_REGISTER_KERNEL(segment_pool, CPU, SegmentPoolKernel, SignedNumbers);
PHI_REGISTER_KERNEL(segment_pool_grad, CPU, SegmentPoolGradKernel, Floats);

}  // namespace phi
