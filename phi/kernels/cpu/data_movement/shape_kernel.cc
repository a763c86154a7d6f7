// CPU kernels that move rows of elements: reshape, concat, split, slice, expand. They read the
// result's shape from out.
#include <algorithm>
#include <cstring>

#include "phi/common/inexact.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/shape.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/shape.h"
#include "phi/kernels/cpu/copy_bytes.h"
#include "phi/kernels/cpu/loops/broadcast.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/strided_walk.h"

namespace phi {
namespace {

const std::byte* bytes_of(const DenseTensor& x) {
  return static_cast<const std::byte*>(x.raw_data());
}
std::byte* bytes_of(DenseTensor* out) { return static_cast<std::byte*>(out->mutable_raw_data()); }

// Copies `rows` rows of `row_bytes` bytes; rows are `from_step` and `to_step` bytes apart.
void copy_rows(const std::byte* from, size_t from_step, std::byte* to, size_t to_step, int64_t rows,
               size_t row_bytes) {
  if (row_bytes == 0) return;
  for (int64_t r = 0; r < rows; ++r) {
    copy_bytes(to + static_cast<size_t>(r) * to_step, from + static_cast<size_t>(r) * from_step,
               row_bytes);
  }
}

// Returns the bytes of the part of `x` that one index of the tensor dims before `axis` selects.
size_t bytes_from(const DenseTensor& x, int axis) {
  return static_cast<size_t>(x.dims().numel(axis, x.ndim())) * size_of(x.dtype());
}

template <typename W>
void expand(const W* x, const Dims& x_dims, W* out, const Dims& out_dims) {
  const Broadcast<1> walk(out_dims, {&x_dims});
  const bool moves = walk.inner_stride(0) == 1;
  walk.for_each_row([&](int64_t at, const std::array<int64_t, 1>& from, int64_t count) {
    if (moves) {
      copy_bytes(out + at, x + from[0], static_cast<size_t>(count) * sizeof(W));
    } else {
      std::fill_n(out + at, count, x[from[0]]);
    }
  });
}

/// Walks over a slice of an array, row by row.
class SliceWalk {
 public:
  SliceWalk(const Dims& dims, const std::vector<int64_t>& axes, const IntArray& starts,
            const IntArray& ends)
      : SliceWalk(ShardBox{dims, Box::whole(dims)}, axes, starts, ends) {}

  /// Walks over the local part of a slice of the global tensor. The array of the slice is whole
  /// along `axes`; along other tensor dims it has the same part as the local array.
  SliceWalk(const ShardBox& here, const std::vector<int64_t>& axes, const IntArray& starts,
            const IntArray& ends) {
    const Dims& dims = here.box.size;
    const Dims strides = dims.strides();
    Dims slice_sizes = dims;
    Dims sizes = dims;
    Dims skipped = Dims::filled(dims.ndim(), 0);
    for (size_t i = 0; i < axes.size(); ++i) {
      const int d = normalise_axis(axes[i], dims.ndim(), dims, "axes");
      const auto [begin, end] =
          slice_bounds(starts[static_cast<int>(i)], ends[static_cast<int>(i)], here.global[d]);
      const int64_t offset = here.box.offset[d];
      const int64_t first = std::clamp(begin, offset, offset + dims[d]);
      slice_sizes[d] = end - begin;
      sizes[d] = std::max<int64_t>(0, std::min(end, offset + dims[d]) - first);
      skipped[d] = first - begin;
      first_ += (first - offset) * strides[d];
    }
    const Dims slice_strides = slice_sizes.strides();
    for (int d = 0; d < dims.ndim(); ++d) {
      walk_.append(sizes[d], {strides[d], slice_strides[d]});
      first_in_slice_ += skipped[d] * slice_strides[d];
    }
    const int last = walk_.ndim() - 1;
    // If the last tensor dim has one local element, its stride in the slice may differ from 1.
    if (last >= 0 && walk_.stride(last, 0) == 1 && walk_.stride(last, 1) == 1) {
      row_ = walk_.size(last);
      walk_.remove(last);
    }
  }

  /// Calls f(offset in the array, offset in the slice, length) for each contiguous row.
  template <typename F>
  void for_each_row(F&& f) const {
    if (row_ == 0) return;
    walk_.for_each([&](const std::array<int64_t, 2>& at) {
      f(first_ + at[0], first_in_slice_ + at[1], row_);
    });
  }

 private:
  StridedWalk<2> walk_;
  int64_t first_ = 0;
  int64_t first_in_slice_ = 0;
  int64_t row_ = 1;
};

}  // namespace

/// The same elements in row-major order, also for squeeze and unsqueeze. out may be x.
template <typename T, typename Context>
void ReshapeKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  const void* from = x.raw_data();
  void* to = out->mutable_raw_data();
  if (x.numel() > 0 && from != to) std::memcpy(to, from, x.nbytes());
}

/// `axis` is whole on every rank.
template <typename T, typename Context>
void ConcatKernel(const Context&, std::span<const DenseTensor* const> x, const Scalar& axis,
                  DenseTensor* out) {
  const int d = normalise_axis(axis.to<int64_t>(), out->ndim(), out->dims());
  const int64_t rows = out->dims().numel(0, d);
  const size_t step = bytes_from(*out, d);
  std::byte* to = bytes_of(out);
  for (const DenseTensor* part : x) {
    const size_t part_bytes = bytes_from(*part, d);
    copy_rows(bytes_of(*part), part_bytes, to, step, rows, part_bytes);
    to += part_bytes;
  }
}

/// `axis` is whole on every rank.
template <typename T, typename Context>
void SplitKernel(const Context&, const DenseTensor& x, const Scalar& axis,
                 std::span<DenseTensor* const> out) {
  const int d = normalise_axis(axis.to<int64_t>(), x.ndim(), x.dims());
  const int64_t rows = x.dims().numel(0, d);
  const size_t step = bytes_from(x, d);
  const std::byte* from = bytes_of(x);
  for (DenseTensor* part : out) {
    const size_t part_bytes = bytes_from(*part, d);
    copy_rows(from, step, bytes_of(part), part_bytes, rows, part_bytes);
    from += part_bytes;
  }
}

/// The tensor dims in `axes` are whole on every rank.
template <typename T, typename Context>
void SliceKernel(const Context&, const DenseTensor& input, const std::vector<int64_t>& axes,
                 const IntArray& starts, const IntArray& ends, DenseTensor* out) {
  if (out->numel() == 0) return;
  const SliceWalk slice(input.dims(), axes, starts, ends);
  const T* from = input.data<T>();
  T* to = out->mutable_data<T>();
  slice.for_each_row([&](int64_t at, int64_t in_slice, int64_t count) {
    copy_bytes(to + in_slice, from + at, static_cast<size_t>(count) * sizeof(T));
  });
}

/// Copies out_grad to the position of the slice and writes zeros elsewhere. The tensor dims in
/// `axes` are whole on every rank.
template <typename T, typename Context>
void SliceGradKernel(const Context&, const DenseTensor& out_grad, const std::vector<int64_t>& axes,
                     const IntArray& starts, const IntArray& ends, DenseTensor* input_grad) {
  if (input_grad->numel() == 0) return;
  std::memset(input_grad->mutable_raw_data(), 0, input_grad->nbytes());
  if (out_grad.numel() == 0) return;
  const SliceWalk slice(input_grad->dims(), axes, starts, ends);
  const T* from = out_grad.data<T>();
  T* to = input_grad->mutable_data<T>();
  slice.for_each_row([&](int64_t at, int64_t in_slice, int64_t count) {
    copy_bytes(to + at, from + in_slice, static_cast<size_t>(count) * sizeof(T));
  });
}

/// out = x with `value` at a slice of the *global* tensor. value is whole along `axes`. out may be
/// x.
template <typename T, typename Context>
void SliceScatterKernel(const Context& ctx, const DenseTensor& x, const DenseTensor& value,
                        const std::vector<int64_t>& axes, const IntArray& starts,
                        const IntArray& ends, DenseTensor* out) {
  if (out->numel() == 0) return;
  T* to = out->mutable_data<T>();
  if (x.raw_data() != to) std::memcpy(static_cast<void*>(to), x.raw_data(), x.nbytes());
  if (value.numel() == 0) return;
  const SliceWalk slice(ctx.output_box(0, out->dims()), axes, starts, ends);
  const T* from = value.data<T>();
  slice.for_each_row([&](int64_t at, int64_t in_slice, int64_t count) {
    copy_bytes(to + at, from + in_slice, static_cast<size_t>(count) * sizeof(T));
  });
}

template <typename T, typename Context>
void ExpandKernel(const Context&, const DenseTensor& x, DenseTensor* out) {
  using W = width_t<T>;
  if (out->numel() == 0) return;
  expand(static_cast<const W*>(x.raw_data()), x.dims(), static_cast<W*>(out->mutable_raw_data()),
         out->dims());
}

PHI_REGISTER_KERNEL(reshape, CPU, ReshapeKernel, EveryType);
PHI_REGISTER_KERNEL(concat, CPU, ConcatKernel, EveryType);
PHI_REGISTER_KERNEL(split, CPU, SplitKernel, EveryType);
PHI_REGISTER_KERNEL(slice, CPU, SliceKernel, EveryType);
PHI_REGISTER_KERNEL(slice_grad, CPU, SliceGradKernel, Inexact);
PHI_REGISTER_KERNEL(slice_scatter, CPU, SliceScatterKernel, EveryType);
PHI_REGISTER_KERNEL(expand, CPU, ExpandKernel, EveryType);

}  // namespace phi
