// argsort, topk, kthvalue, mode and their common gradient on GPUs.
#include "phi/common/errors.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/elements.h"
#include "phi/kernels/gpu/sort/order_lines.h"
#include "phi/kernels/slices.h"

namespace phi {
namespace {

using gpu::AxisLines;

/// Writes elements first .. first + count - 1 of each line's sorted order.
template <typename T>
__global__ void give_ranks(const T* x, const int64_t* ordered, AxisLines lines, int64_t first,
                           int64_t count, T* values, int64_t* places) {
  AxisLines out = lines;
  out.n = count;
  for (int64_t i = gpu::first_item(); i < lines.count * count; i += gpu::item_stride()) {
    const int64_t line = i / count;
    const int64_t k = i - line * count;
    const int64_t place = ordered[line * lines.n + first + k] - line * lines.n;
    const int64_t to = out.start(line) + out.at(k);
    values[to] = x[lines.start(line) + lines.at(place)];
    places[to] = place;
  }
}

/// Writes the most frequent element of each line, the smallest of several, with its last index.
template <typename T>
__global__ void give_modes(const T* x, const int64_t* ordered, AxisLines lines, T* values,
                           int64_t* places) {
  for (int64_t line = gpu::first_item(); line < lines.count; line += gpu::item_stride()) {
    int64_t most = 0;
    int64_t best = 0;
    int64_t run = 0;
    uint64_t last = 0;
    for (int64_t k = 0; k < lines.n; ++k) {
      const int64_t place = ordered[line * lines.n + k] - line * lines.n;
      const uint64_t key = gpu::key_of(x[lines.start(line) + lines.at(place)], false);
      run = k > 0 && key == last ? run + 1 : 1;
      last = key;
      // If a run becomes longer than the best one, its last index is the result.
      if (run > most) {
        most = run;
        best = place;
      }
    }
    values[line] = x[lines.start(line) + lines.at(best)];
    places[line] = best;
  }
}

template <typename T>
void give(const GpuContext& ctx, const DenseTensor& x, const AxisLines& lines,
          const DenseTensor& ordered, int64_t first, int64_t count, DenseTensor* out,
          DenseTensor* indices) {
  if (lines.count * count == 0) return;
  gpu::launch(ctx, give_ranks<T>, gpu::blocks_for(ctx, lines.count * count), gpu::kBlock,
              x.data<T>(), ordered.data<int64_t>(), lines, first, count, out->mutable_data<T>(),
              indices->mutable_data<int64_t>());
}

[[noreturn]] void throw_not_chosen(const DeviceAssertion& found) {
  throw errors::InvalidArgument(
      "indices hold {}, but there are {} elements along the axis; pass those of the forward call.",
      found.value, found.extent);
}

}  // namespace

template <typename T, typename Context>
void ArgsortKernel(const Context& ctx, const DenseTensor& x, int axis, bool descending,
                   DenseTensor* out, DenseTensor* indices) {
  if (x.numel() == 0) return;
  const AxisLines lines(x.dims(), axis);
  give<T>(ctx, x, lines, gpu::order_lines<T>(ctx, x, lines, descending), 0, lines.n, out, indices);
}

/// The result is always sorted, whatever `sorted` is.
template <typename T, typename Context>
void TopkKernel(const Context& ctx, const DenseTensor& x, const Scalar& k, int axis, bool largest,
                bool /*sorted*/, DenseTensor* out, DenseTensor* indices) {
  if (x.numel() == 0) return;
  const AxisLines lines(x.dims(), axis);
  give<T>(ctx, x, lines, gpu::order_lines<T>(ctx, x, lines, largest), 0, k.to<int64_t>(), out,
          indices);
}

/// The k-th smallest element, counted from 1.
template <typename T, typename Context>
void KthvalueKernel(const Context& ctx, const DenseTensor& x, int k, int axis, DenseTensor* out,
                    DenseTensor* indices) {
  if (x.numel() == 0) return;
  const AxisLines lines(x.dims(), axis);
  give<T>(ctx, x, lines, gpu::order_lines<T>(ctx, x, lines, false), k - 1, 1, out, indices);
}

template <typename T, typename Context>
void ModeKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out,
                DenseTensor* indices) {
  if (x.numel() == 0) return;
  const AxisLines lines(x.dims(), axis);
  const DenseTensor ordered = gpu::order_lines<T>(ctx, x, lines, false);
  gpu::launch(ctx, give_modes<T>, gpu::blocks_for(ctx, lines.count), gpu::kBlock, x.data<T>(),
              ordered.data<int64_t>(), lines, out->mutable_data<T>(),
              indices->mutable_data<int64_t>());
}

/// x_grad: adds each element of out_grad at its index along `axis`. Errors: InvalidArgument for an
/// index that is out of range.
template <typename T, typename Context>
void PutBackKernel(const Context& ctx, const DenseTensor& indices, const DenseTensor& out_grad,
                   int axis, DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  const AxisLines lines(x_grad->dims(), axis);
  const int64_t outer = lines.count / lines.inner;
  const Dims chosen{outer, out_grad.numel() / lines.count, lines.inner};
  const Dims whole{outer, lines.n, lines.inner};
  const DenseTensor places = indices.view(chosen);
  const auto named = gpu::positions_by_element(
      ctx, whole, {places, "indices", FromEnd::kNo, 1, throw_not_chosen}, chosen);
  T* to = x_grad->mutable_data<T>();
  gpu::add_positions<T>(ctx, SumsFrom::kZero, {1, x_grad->numel(), 1}, named, out_grad.numel(), to,
                        out_grad.data<T>(), to);
}

using GpuSortTypes = join_t<TypeList<int16_t>, Numbers>;

PHI_REGISTER_KERNEL(argsort, GPU, ArgsortKernel, GpuSortTypes);
PHI_REGISTER_KERNEL(topk, GPU, TopkKernel, Numbers);
PHI_REGISTER_KERNEL(kthvalue, GPU, KthvalueKernel, Numbers);
PHI_REGISTER_KERNEL(mode, GPU, ModeKernel, Numbers);
PHI_REGISTER_KERNEL(put_back, GPU, PutBackKernel, Floats);

}  // namespace phi
