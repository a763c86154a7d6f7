// Common parts of losses over classes on all devices: the layout of classes, errors for invalid
// labels, and numbers per row that ranks combine if classes are sharded.
#pragma once

#include <cstdint>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi {

/// The local array as rows of classes. Row o * inner + i holds the elements (o, :, i).
struct ClassLayout {
  int axis;
  int64_t outer;
  int64_t classes;  // on this rank
  int64_t inner;
  int64_t rows() const { return outer * inner; }
};

inline ClassLayout class_layout(const Dims& dims, int axis) {
  const int at = axis < 0 ? axis + dims.ndim() : axis;
  return {at, dims.numel(0, at), dims[at], dims.numel(at + 1, dims.ndim())};
}

[[noreturn]] inline void throw_wrong_label(int64_t row, int64_t label, int64_t classes,
                                           int64_t ignore_index) {
  throw errors::InvalidArgument(
      "label of row {} is {}, but input has {} classes; it must be in [0, {}) or ignore_index "
      "({}).",
      row, label, classes, classes, ignore_index);
}

/// The same for a row of another rank.
[[noreturn]] inline void throw_wrong_label_elsewhere(int64_t classes, int64_t ignore_index) {
  throw errors::InvalidArgument(
      "a label on another rank is not a class: input has {}, and labels must be in [0, {}) or "
      "ignore_index ({}). That rank's error names the row.",
      classes, classes, ignore_index);
}

/// Whether classes are sharded over ranks. The result must be equal on all ranks that share the
/// class dim, so an extent of 1 counts as sharded: over two ranks, one has all of it and the other
/// none.
inline bool classes_sharded(const KernelContext& ctx, const ShardBox& box, int axis) {
  return ctx.view() && (box.box.size[axis] != box.global[axis] || box.global[axis] <= 1);
}

/// One number per row, combined over the ranks that share the class dim.
template <typename C>
class RowNumbers {
 public:
  RowNumbers(const KernelContext& ctx, int64_t rows)
      : values_(allocate(ctx, rows)), data_(values_.template mutable_data<C>()) {}
  /// Its array; in a dry run it is only counted.
  static DenseTensor allocate(const KernelContext& ctx, int64_t rows) {
    const MemoryUseScope use(MemoryUse::kWorkspace);
    return DenseTensor::empty({{rows}, dtype_of<C>()}, ctx.place());
  }
  C* data() { return data_; }
  C& operator[](int64_t r) { return data_[r]; }  // host memory only
  /// `input` is the number of the op's tensor whose tensor dim `axis` holds the classes.
  void combine(const KernelContext& ctx, int input, int axis, CombineKind kind) {
    if (ctx.view()) ctx.view()->combine_over(input, axis, kind, &values_);
  }

 private:
  DenseTensor values_;
  C* data_;
};

/// In a dry run: counts `times` RowNumbers that exist at once, and the messages that combine them
/// if the classes are sharded.
template <typename C>
void combine_dry(const KernelContext& ctx, int input, const ClassLayout& layout, int times,
                 bool sharded) {
  std::vector<DenseTensor> numbers;
  for (int i = 0; i < times; ++i) {
    numbers.push_back(RowNumbers<C>::allocate(ctx, layout.rows()));
  }
  for (DenseTensor& values : numbers) {
    if (sharded) ctx.view()->combine_over(input, layout.axis, CombineKind::kSum, &values);
  }
}

}  // namespace phi
