// Interpolation of images on GPUs, one pass per dim. Each element of a gradient gathers from the
// outputs that use it, in their order.
#include <vector>

#include "phi/gpu/index_space.h"
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/image/taps.h"

namespace phi {
namespace {

template <typename C>
struct Resample {
  const int64_t* from;  // [out, each]
  const C* weight;      // the same
  int64_t each;
  int64_t in;
  gpu::IndexSpace<2> space;  // [out, inner]
  const C* x;
  PHI_HD C operator()(int64_t i) const {
    const auto place = space.place(i);
    const int64_t first = place.along[0] * each;
    const int64_t inner = space.extent(1);
    const C* const line = x + place.outer * in * inner + place.along[1];
    C sum = static_cast<C>(weight[first] * line[from[first] * inner]);
    for (int64_t k = first + 1; k < first + each; ++k)
      sum = static_cast<C>(sum + weight[k] * line[from[k] * inner]);
    return sum;
  }
};

template <typename C>
struct GatherTaps {
  const int64_t* begins;  // [in + 1]: element i is used by taps[begins[i] .. begins[i + 1] - 1]
  const int64_t* taps;
  const C* weight;
  gpu::Divider each;
  int64_t out;
  gpu::IndexSpace<2> space;  // [in, inner]
  const C* y_grad;
  PHI_HD C operator()(int64_t i) const {
    const auto place = space.place(i);
    const int64_t at = place.along[0];
    const int64_t inner = space.extent(1);
    const C* const line = y_grad + place.outer * out * inner + place.along[1];
    C sum = C(0);
    for (int64_t k = begins[at]; k < begins[at + 1]; ++k)
      sum = static_cast<C>(sum + weight[taps[k]] * line[each.quotient(taps[k]) * inner]);
    return sum;
  }
};

template <typename T>
DenseTensor upload(const GpuContext& ctx, const std::vector<T>& values) {
  return array_from_host(ctx, values.data(), values.size());
}

template <typename C>
void resample(const GpuContext& ctx, const Taps<C>& taps, int64_t outer, int64_t inner, const C* x,
              C* y) {
  if (outer * inner == 0) return;
  const DenseTensor from = upload(ctx, taps.from);
  const DenseTensor weight = upload(ctx, taps.weight);
  index_loop(ctx, y, outer * taps.out * inner,
             Resample<C>{from.data<int64_t>(), weight.data<C>(), taps.each, taps.in,
                         gpu::IndexSpace<2>({taps.out, inner}), x});
}

template <typename C>
void resample_grad(const GpuContext& ctx, const Taps<C>& taps, int64_t outer, int64_t inner,
                   const C* y_grad, C* x_grad) {
  if (outer * inner == 0) return;
  std::vector<int64_t> begins(static_cast<size_t>(taps.in) + 1, 0);
  for (const int64_t from : taps.from) ++begins[static_cast<size_t>(from) + 1];
  for (size_t i = 1; i < begins.size(); ++i) begins[i] += begins[i - 1];
  std::vector<int64_t> next = begins;
  std::vector<int64_t> order(taps.from.size());
  for (size_t t = 0; t < taps.from.size(); ++t)
    order[static_cast<size_t>(next[static_cast<size_t>(taps.from[t])]++)] = static_cast<int64_t>(t);
  const DenseTensor all_begins = upload(ctx, begins);
  const DenseTensor all_taps = upload(ctx, order);
  const DenseTensor weight = upload(ctx, taps.weight);
  index_loop(ctx, x_grad, outer * taps.in * inner,
             GatherTaps<C>{all_begins.data<int64_t>(), all_taps.data<int64_t>(), weight.data<C>(),
                           gpu::Divider(taps.each), taps.out, gpu::IndexSpace<2>({taps.in, inner}),
                           y_grad});
}

/// Copies x to the host; synchronises with the GPU.
DenseTensor on_host(const GpuContext& ctx, const DenseTensor& x) {
  DenseTensor copy = DenseTensor::empty(x.meta(), CPUPlace());
  if (x.nbytes() == 0) return copy;
  gpu::GpuDevice::of(ctx.place())
      .copy_to_host(copy.mutable_raw_data(), static_cast<const std::byte*>(x.raw_data()),
                    x.nbytes());
  return copy;
}

}  // namespace
}  // namespace phi

#include "phi/kernels/templates/image/interp.h"
