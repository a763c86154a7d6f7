// Kernels on lists of arrays: stack, unstack, broadcast, select.
#pragma once

#include <span>

#include "phi/generated/kernels/concat.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/concat.h"
#include "phi/kernels/pieces.h"

namespace phi {
namespace {

/// Moves between part `i` of `parts` and the array that stacks the parts along tensor dim `axis`:
/// `into` writes a part to the array, and `out_of` reads one from it.
struct PartOf {
  int64_t outer;
  int64_t inner;

  PartOf(const Dims& whole, int axis)
      : outer(whole.numel(0, axis)), inner(whole.numel(axis + 1, whole.ndim())) {}
  Pieces into(int64_t i, int64_t parts) const {
    Pieces pieces({i * inner, 0});
    pieces.append(outer, {parts * inner, inner});
    pieces.append(inner, {1, 1});
    return pieces;
  }
  Pieces out_of(int64_t i, int64_t parts) const {
    Pieces pieces({0, i * inner});
    pieces.append(outer, {inner, parts * inner});
    pieces.append(inner, {1, 1});
    return pieces;
  }
};

Pieces broadcast(const Dims& from, const Dims& to) {
  const Dims from_strides = from.strides();
  const Dims to_strides = to.strides();
  const int added = to.ndim() - from.ndim();
  Pieces pieces;
  for (int d = 0; d < to.ndim(); ++d) {
    const bool moves = d >= added && from[d - added] != 1;
    pieces.append(to[d], {to_strides[d], moves ? from_strides[d - added] : 0});
  }
  return pieces;
}

}  // namespace

template <typename T, typename Context>
void StackKernel(const Context& ctx, std::span<const DenseTensor* const> x, int axis,
                 DenseTensor* out) {
  const PartOf part(out->dims(), normalise_axis(axis, out->ndim(), out->dims()));
  const auto parts = static_cast<int64_t>(x.size());
  for (int64_t i = 0; i < parts; ++i) {
    copy_pieces<T>(ctx, part.into(i, parts), *x[static_cast<size_t>(i)], out);
  }
}

/// `axis` is unsharded.
template <typename T, typename Context>
void UnbindKernel(const Context& ctx, const DenseTensor& input, int axis,
                  std::span<DenseTensor* const> out) {
  const PartOf part(input.dims(), normalise_axis(axis, input.ndim(), input.dims()));
  const auto parts = static_cast<int64_t>(out.size());
  for (int64_t i = 0; i < parts; ++i) {
    copy_pieces<T>(ctx, part.out_of(i, parts), input, out[static_cast<size_t>(i)]);
  }
}

template <typename T, typename Context>
void BroadcastTensorsKernel(const Context& ctx, std::span<const DenseTensor* const> input,
                            std::span<DenseTensor* const> out) {
  for (size_t i = 0; i < input.size(); ++i) {
    copy_pieces<T>(ctx, broadcast(input[i]->dims(), out[i]->dims()), *input[i], out[i]);
  }
}

template <typename T, typename Context>
void MeshgridKernel(const Context& ctx, std::span<const DenseTensor* const> inputs,
                    std::span<DenseTensor* const> out) {
  for (size_t i = 0; i < inputs.size(); ++i) {
    Dims alone = Dims::filled(out[i]->ndim(), 1);
    alone[static_cast<int>(i)] = inputs[i]->numel();
    copy_pieces<T>(ctx, broadcast(alone, out[i]->dims()), *inputs[i], out[i]);
  }
}

template <typename T, typename Context>
void PartialConcatKernel(const Context& ctx, std::span<const DenseTensor* const> x, int start_index,
                         DenseTensor* out) {
  const auto parts = static_cast<int64_t>(x.size());
  const int64_t width = out->dims()[1] / parts;
  for (int64_t i = 0; i < parts; ++i) {
    const DenseTensor& part = *x[static_cast<size_t>(i)];
    Pieces pieces({i * width, first_column(start_index, part.dims()[1])});
    pieces.append(part.dims()[0], {parts * width, part.dims()[1]});
    pieces.append(width, {1, 1});
    copy_pieces<T>(ctx, pieces, part, out);
  }
}

PHI_REGISTER_KERNEL(stack, PHI_DEVICE, StackKernel, EveryType);
PHI_REGISTER_KERNEL(unbind, PHI_DEVICE, UnbindKernel, EveryType);
PHI_REGISTER_KERNEL(broadcast_tensors, PHI_DEVICE, BroadcastTensorsKernel, EveryType);
PHI_REGISTER_KERNEL(meshgrid, PHI_DEVICE, MeshgridKernel, EveryType);
PHI_REGISTER_KERNEL(partial_concat, PHI_DEVICE, PartialConcatKernel, EveryType);

}  // namespace phi
