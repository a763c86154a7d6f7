// argsort, topk, kthvalue and mode on GPUs, and the gradient of all. The elements of all lines
// along an axis are sorted at once, by line and then by their order; equal ones stay in the order
// of their places.
#include "phi/common/errors.h"
#include "phi/generated/kernels/order.h"
#include "phi/kernels/functors/order_key.h"
#include "phi/kernels/gpu/indexing/elements.h"
#include "phi/kernels/gpu/indexing/radix_sort.h"
#include "phi/kernels/gpu/lines.h"
#include "phi/kernels/gpu/words.h"
#include "phi/kernels/slices.h"

namespace phi {
namespace {

using Lines = gpu::AxisLines;

template <typename T>
PHI_HD uint64_t key_of(T x, bool descending) {
  const auto key = order_key(static_cast<compute_t<T>>(x));
  return descending ? static_cast<uint64_t>(static_cast<decltype(key)>(~key)) : uint64_t{key};
}

/// Element e is number e % n of line e / n; short keys stand behind the line's number.
template <typename T>
__global__ void rank_elements(const T* x, Lines lines, bool descending, bool with_line,
                              uint64_t* keys, int64_t* elements) {
  const int64_t all = lines.count * lines.n;
  for (int64_t e = gpu::first_item(); e < all; e += gpu::item_stride()) {
    const int64_t line = e / lines.n;
    const uint64_t key = key_of(x[lines.start(line) + lines.at(e - line * lines.n)], descending);
    keys[e] = with_line ? static_cast<uint64_t>(line) << 32 | key : key;
    elements[e] = e;
  }
}

__global__ void key_by_line(const int64_t* elements, int64_t all, int64_t n, uint64_t* keys) {
  for (int64_t i = gpu::first_item(); i < all; i += gpu::item_stride()) {
    keys[i] = static_cast<uint64_t>(elements[i] / n);
  }
}

/// All elements in the order of their lines, and of each in theirs.
template <typename T>
DenseTensor order_lines(const GpuContext& ctx, const DenseTensor& x, const Lines& lines,
                        bool descending) {
  constexpr bool kIsShort = sizeof(order_key_t<compute_t<T>>) == 4;
  const int64_t all = lines.count * lines.n;
  const TensorMeta meta{{all}, DataType::INT64};
  gpu::SortedPairs pairs{DenseTensor::empty(meta, ctx.place()),
                         DenseTensor::empty(meta, ctx.place())};
  const unsigned blocks = gpu::blocks_for(ctx, all);
  auto* keys = static_cast<uint64_t*>(pairs.keys.mutable_raw_data());
  gpu::launch(ctx, rank_elements<T>, blocks, gpu::kBlock, x.data<T>(), lines, descending, kIsShort,
              keys, pairs.values.mutable_data<int64_t>());
  const int line_bits = gpu::bits_below(lines.count);
  if (kIsShort) return gpu::radix_sort(ctx, std::move(pairs), 32 + line_bits).values;
  pairs = gpu::radix_sort(ctx, std::move(pairs), 64);
  gpu::launch(ctx, key_by_line, blocks, gpu::kBlock, pairs.values.data<int64_t>(), all, lines.n,
              static_cast<uint64_t*>(pairs.keys.mutable_raw_data()));
  return gpu::radix_sort(ctx, std::move(pairs), line_bits).values;
}

/// Numbers first .. first + count - 1 of each line's order.
template <typename T>
__global__ void give_ranks(const T* x, const int64_t* ordered, Lines lines, int64_t first,
                           int64_t count, T* values, int64_t* places) {
  Lines out = lines;
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

/// The last place of each line's most frequent element, the smallest of those.
template <typename T>
__global__ void give_modes(const T* x, const int64_t* ordered, Lines lines, T* values,
                           int64_t* places) {
  for (int64_t line = gpu::first_item(); line < lines.count; line += gpu::item_stride()) {
    int64_t most = 0;
    int64_t best = 0;
    int64_t run = 0;
    uint64_t last = 0;
    for (int64_t k = 0; k < lines.n; ++k) {
      const int64_t place = ordered[line * lines.n + k] - line * lines.n;
      const uint64_t key = key_of(x[lines.start(line) + lines.at(place)], false);
      run = k > 0 && key == last ? run + 1 : 1;
      last = key;
      // A run that grows past the most moves on to its last place.
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
void give(const GpuContext& ctx, const DenseTensor& x, const Lines& lines,
          const DenseTensor& ordered, int64_t first, int64_t count, DenseTensor* out,
          DenseTensor* indices) {
  if (lines.count * count == 0) return;
  gpu::launch(ctx, give_ranks<T>, gpu::blocks_for(ctx, lines.count * count), gpu::kBlock,
              x.data<T>(), ordered.data<int64_t>(), lines, first, count, out->mutable_data<T>(),
              indices->mutable_data<int64_t>());
}

[[noreturn]] void throw_not_chosen(const Misfit& found) {
  throw errors::InvalidArgument(
      "indices hold {}, but there are {} elements along the axis; give "
      "those of the forward call.",
      found.value, found.extent);
}

}  // namespace

template <typename T, typename Context>
void ArgsortKernel(const Context& ctx, const DenseTensor& x, int axis, bool descending,
                   DenseTensor* out, DenseTensor* indices) {
  if (x.numel() == 0) return;
  const Lines lines(x.dims(), axis);
  give<T>(ctx, x, lines, order_lines<T>(ctx, x, lines, descending), 0, lines.n, out, indices);
}

/// In order, whether `sorted` asks for that or not.
template <typename T, typename Context>
void TopkKernel(const Context& ctx, const DenseTensor& x, const Scalar& k, int axis, bool largest,
                bool /*sorted*/, DenseTensor* out, DenseTensor* indices) {
  if (x.numel() == 0) return;
  const Lines lines(x.dims(), axis);
  give<T>(ctx, x, lines, order_lines<T>(ctx, x, lines, largest), 0, k.to<int64_t>(), out, indices);
}

/// The k-th smallest element, counted from 1.
template <typename T, typename Context>
void KthvalueKernel(const Context& ctx, const DenseTensor& x, int k, int axis, DenseTensor* out,
                    DenseTensor* indices) {
  if (x.numel() == 0) return;
  const Lines lines(x.dims(), axis);
  give<T>(ctx, x, lines, order_lines<T>(ctx, x, lines, false), k - 1, 1, out, indices);
}

template <typename T, typename Context>
void ModeKernel(const Context& ctx, const DenseTensor& x, int axis, DenseTensor* out,
                DenseTensor* indices) {
  if (x.numel() == 0) return;
  const Lines lines(x.dims(), axis);
  const DenseTensor ordered = order_lines<T>(ctx, x, lines, false);
  gpu::launch(ctx, give_modes<T>, gpu::blocks_for(ctx, lines.count), gpu::kBlock, x.data<T>(),
              ordered.data<int64_t>(), lines, out->mutable_data<T>(),
              indices->mutable_data<int64_t>());
}

/// x_grad: each element of out_grad added at its place along `axis`. Errors: InvalidArgument for a
/// place that is not there.
template <typename T, typename Context>
void PutBackKernel(const Context& ctx, const DenseTensor& indices, const DenseTensor& out_grad,
                   int axis, DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  const Lines lines(x_grad->dims(), axis);
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

PHI_REGISTER_KERNEL(argsort, GPU, ArgsortKernel, Numbers);
PHI_REGISTER_KERNEL(topk, GPU, TopkKernel, Numbers);
PHI_REGISTER_KERNEL(kthvalue, GPU, KthvalueKernel, Numbers);
PHI_REGISTER_KERNEL(mode, GPU, ModeKernel, Numbers);
PHI_REGISTER_KERNEL(put_back, GPU, PutBackKernel, Floats);

}  // namespace phi
