// Kernels that copy elements unchanged, on GPUs: reshape, concat, split, slice, expand, transpose;
// and triangles of matrices. Each describes its copy as pieces (kernels/pieces.h) and reads the
// result's shape from `out`.
#include <algorithm>

#include "phi/common/inexact.h"
#include "phi/generated/kernels/diagonal.h"
#include "phi/generated/kernels/shape.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/shape.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/data_movement/move.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi {
namespace {

/// Pieces from `part` to indices [begin, end) of tensor dim d of `whole`, where `part` is the
/// source.
Pieces part_of(const Dims& whole, const Dims& part, int d, int64_t begin) {
  const int64_t inner = whole.numel(d + 1, whole.ndim());
  Pieces pieces({begin * inner, 0});
  pieces.append(whole.numel(0, d), {whole[d] * inner, part[d] * inner});
  pieces.append(part[d] * inner, {1, 1});
  return pieces;
}

/// Calls f(pieces of the list element, list element) for each element of a list, which are adjacent
/// along tensor dim d of `whole`.
template <typename List, typename F>
void for_each_part(const List& parts, const Dims& whole, int d, F f) {
  int64_t begin = 0;
  for (auto* part : parts) {
    f(part_of(whole, part->dims(), d, begin), part);
    begin += part->dims()[d];
  }
}

/// Pieces from a shard of an array to a slice of the global array. The slice is unsharded along
/// `axes` and sharded like the array elsewhere.
Pieces slice_of(const ShardBox& here, const std::vector<int64_t>& axes, const IntArray& starts,
                const IntArray& ends) {
  const Dims& dims = here.box.size;
  const Dims strides = dims.strides();
  Dims slice_sizes = dims;
  Dims sizes = dims;
  Dims first = Dims::filled(dims.ndim(), 0);
  Dims skipped = Dims::filled(dims.ndim(), 0);
  for (size_t i = 0; i < axes.size(); ++i) {
    const int d = normalise_axis(axes[i], dims.ndim(), dims, "axes");
    const auto [begin, end] =
        slice_bounds(starts[static_cast<int>(i)], ends[static_cast<int>(i)], here.global[d]);
    const int64_t offset = here.box.offset[d];
    const int64_t from = std::clamp(begin, offset, offset + dims[d]);
    slice_sizes[d] = end - begin;
    sizes[d] = std::max<int64_t>(0, std::min(end, offset + dims[d]) - from);
    first[d] = from - offset;
    skipped[d] = from - begin;
  }
  const Dims slice_strides = slice_sizes.strides();
  Pieces pieces;
  for (int d = 0; d < dims.ndim(); ++d) {
    pieces.append({{skipped[d], first[d], sizes[d], 1}}, {slice_strides[d], strides[d]});
  }
  return pieces;
}

Pieces slice_of(const Dims& dims, const std::vector<int64_t>& axes, const IntArray& starts,
                const IntArray& ends) {
  return slice_of(ShardBox{dims, Box::whole(dims)}, axes, starts, ends);
}

Pieces expanded(const Dims& x, const Dims& out) {
  const Dims x_strides = x.strides();
  const Dims out_strides = out.strides();
  const int added = out.ndim() - x.ndim();
  Pieces pieces;
  for (int d = 0; d < out.ndim(); ++d) {
    const bool moves = d >= added && x[d - added] != 1;
    pieces.append(out[d], {out_strides[d], moves ? x_strides[d - added] : 0});
  }
  return pieces;
}

Pieces transposed(const Dims& x, const std::vector<int>& perm, const Dims& out) {
  const Dims x_strides = x.strides();
  const Dims out_strides = out.strides();
  Pieces pieces;
  for (int d = 0; d < out.ndim(); ++d) {
    const int from = normalise_axis(perm[static_cast<size_t>(d)], x.ndim(), x);
    pieces.append(out[d], {out_strides[d], x_strides[from]});
  }
  return pieces;
}

/// Element i of matrices in which row r keeps its columns c with c <= r + shift, or c >= r + shift.
template <typename W>
struct TriangleFunctor {
  const W* x;
  int64_t rows;
  int64_t columns;
  int64_t shift;
  bool lower;
  PHI_HD W operator()(int64_t i) const {
    const int64_t row = i / columns;
    const int64_t beyond = i - row * columns - row % rows - shift;
    return (lower ? beyond <= 0 : beyond >= 0) ? x[i] : W{};
  }
};

template <typename T>
void keep_triangle(const GpuContext& ctx, const DenseTensor& x, int diagonal, bool lower,
                   DenseTensor* out) {
  using W = width_t<T>;
  if (x.numel() == 0) return;
  const Box here = ctx.output_box(0, x.dims()).box;
  const int row_dim = x.ndim() - 2;
  const int64_t shift = here.offset[row_dim] - here.offset[row_dim + 1] + diagonal;
  index_loop(ctx, static_cast<W*>(out->mutable_raw_data()), x.numel(),
             TriangleFunctor<W>{static_cast<const W*>(x.raw_data()), x.dims()[row_dim],
                                x.dims()[row_dim + 1], shift, lower});
}

}  // namespace

/// The same elements in row-major order; used for squeeze and unsqueeze too. out may be x.
template <typename T, typename Context>
void ReshapeKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  keep(ctx, x, out);
}

/// `axis` is unsharded.
template <typename T, typename Context>
void ConcatKernel(const Context& ctx, std::span<const DenseTensor* const> x, const Scalar& axis,
                  DenseTensor* out) {
  const int d = normalise_axis(axis.to<int64_t>(), out->ndim(), out->dims());
  for_each_part(x, out->dims(), d, [&](const Pieces& pieces, const DenseTensor* part) {
    copy_pieces<T>(ctx, pieces, *part, out);
  });
}

/// `axis` is unsharded.
template <typename T, typename Context>
void SplitKernel(const Context& ctx, const DenseTensor& x, const Scalar& axis,
                 std::span<DenseTensor* const> out) {
  const int d = normalise_axis(axis.to<int64_t>(), x.ndim(), x.dims());
  for_each_part(out, x.dims(), d, [&](const Pieces& pieces, DenseTensor* part) {
    put_pieces<T>(ctx, pieces, x, part);
  });
}

/// The tensor dims in `axes` are unsharded.
template <typename T, typename Context>
void SliceKernel(const Context& ctx, const DenseTensor& input, const std::vector<int64_t>& axes,
                 const IntArray& starts, const IntArray& ends, DenseTensor* out) {
  if (out->numel() == 0) return;
  copy_pieces<T>(ctx, slice_of(input.dims(), axes, starts, ends), input, out);
}

/// out_grad at the slice, zeros elsewhere.
template <typename T, typename Context>
void SliceGradKernel(const Context& ctx, const DenseTensor& out_grad,
                     const std::vector<int64_t>& axes, const IntArray& starts, const IntArray& ends,
                     DenseTensor* input_grad) {
  if (input_grad->numel() == 0) return;
  copy_pieces_back<T>(ctx, slice_of(input_grad->dims(), axes, starts, ends), out_grad, input_grad);
}

/// x with `value` written to a slice of the *global* tensor, for any shard. value is unsharded
/// along `axes`. out may be x.
template <typename T, typename Context>
void SliceScatterKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& value,
                        const std::vector<int64_t>& axes, const IntArray& starts,
                        const IntArray& ends, DenseTensor* out) {
  if (out->numel() == 0) return;
  keep(ctx, x, out);
  put_pieces<T>(ctx, slice_of(ctx.output_box(0, out->dims()), axes, starts, ends), value, out);
}

template <typename T, typename Context>
void ExpandKernel(const Context& ctx, const DenseTensor& x, DenseTensor* out) {
  copy_pieces<T>(ctx, expanded(x.dims(), out->dims()), x, out);
}

template <typename T, typename Context>
void TransposeKernel(const Context& ctx, const DenseTensor& x, const std::vector<int>& perm,
                     DenseTensor* out) {
  copy_pieces<T>(ctx, transposed(x.dims(), perm, out->dims()), x, out);
}

/// Sets elements above the diagonal of the *global* matrices to zero, for any shard. out may be x.
template <typename T, typename Context>
void TrilKernel(const Context& ctx, const DenseTensor& x, int diagonal, DenseTensor* out) {
  keep_triangle<T>(ctx, x, diagonal, /*lower=*/true, out);
}

/// Sets elements below the diagonal to zero; as tril.
template <typename T, typename Context>
void TriuKernel(const Context& ctx, const DenseTensor& x, int diagonal, DenseTensor* out) {
  keep_triangle<T>(ctx, x, diagonal, /*lower=*/false, out);
}

PHI_REGISTER_KERNEL(reshape, GPU, ReshapeKernel, EveryType);
PHI_REGISTER_KERNEL(concat, GPU, ConcatKernel, EveryType);
PHI_REGISTER_KERNEL(split, GPU, SplitKernel, EveryType);
PHI_REGISTER_KERNEL(slice, GPU, SliceKernel, EveryType);
PHI_REGISTER_KERNEL(slice_grad, GPU, SliceGradKernel, Inexact);
PHI_REGISTER_KERNEL(slice_scatter, GPU, SliceScatterKernel, EveryType);
PHI_REGISTER_KERNEL(expand, GPU, ExpandKernel, EveryType);
PHI_REGISTER_KERNEL(transpose, GPU, TransposeKernel, EveryType);
PHI_REGISTER_KERNEL(tril, GPU, TrilKernel, EveryType);
PHI_REGISTER_KERNEL(triu, GPU, TriuKernel, EveryType);

}  // namespace phi
