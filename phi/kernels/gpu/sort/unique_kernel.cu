// unique and unique_consecutive on GPUs: groups of equal items, which are elements, or slices along
// an axis. The host synchronises with the GPU for the number of groups.
#include <type_traits>
#include <vector>

#include "phi/generated/kernels/data_dependent.h"
#include "phi/kernels/element_width.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/indexing/slices.h"
#include "phi/kernels/gpu/partition_point.h"
#include "phi/kernels/gpu/scan/prefix_sums.h"
#include "phi/kernels/gpu/sort/order_lines.h"
#include "phi/kernels/items.h"

namespace phi {
namespace {

/// Merges pairs of sorted runs of `length` items. An item's position is the number of items before
/// it in both runs. Among equal items those of the first run come first.
template <typename T>
__global__ void merge_runs(Items<T> x, int64_t length, const int64_t* order, int64_t* merged) {
  for (int64_t i = gpu::first_item(); i < x.items; i += gpu::item_stride()) {
    const int64_t run = i / length;
    const bool is_first = run % 2 == 0;
    const int64_t other = (is_first ? run + 1 : run - 1) * length;
    const int64_t left = x.items - other;
    const int64_t others = left < 0 ? 0 : left < length ? left : length;
    const int64_t before = gpu::partition_point(others, [&](int64_t k) {
      const int compared = compare_items(x, order[other + k], order[i]);
      return compared < 0 || (compared == 0 && !is_first);
    });
    merged[i + before - (is_first ? 0 : length)] = order[i];
  }
}

struct Itself {
  PHI_HD int64_t operator()(int64_t i) const { return i; }
};

/// The indices of the items in stable sorted order.
template <typename T>
DenseTensor order_items(const GpuContext& ctx, const DenseTensor& x, const Items<T>& items) {
  if (items.outer == 1 && items.inner == 1) {
    return gpu::order_lines<T>(ctx, x, gpu::AxisLines::rows(1, items.items), false);
  }
  const TensorMeta meta{{items.items}, DataType::INT64};
  DenseTensor order = DenseTensor::empty(meta, ctx.place());
  DenseTensor merged = DenseTensor::empty(meta, ctx.place());
  index_loop(ctx, order.mutable_data<int64_t>(), items.items, Itself());
  for (int64_t length = 1; length < items.items; length *= 2) {
    gpu::launch(ctx, merge_runs<T>, gpu::blocks_for(ctx, items.items), gpu::kBlock, items, length,
                order.data<int64_t>(), merged.mutable_data<int64_t>());
    std::swap(order, merged);
  }
  return order;
}

/// Whether a sorted item differs from the previous one.
template <typename T>
struct BeginsGroup {
  Items<T> items;
  const int64_t* order;
  PHI_HD bool operator()(int64_t s) const {
    return s == 0 || compare_items(items, order[s - 1], order[s]) != 0;
  }
};

template <typename T>
struct BeginsRun {
  Items<T> items;
  PHI_HD bool operator()(int64_t i) const { return i == 0 || !are_equal(items, i - 1, i); }
};

/// The element of an order at the start of a group.
struct FirstOf {
  const int64_t* order;
  PHI_HD int64_t operator()(int64_t start) const { return order[start]; }
};

/// Number of items of a group.
struct SizeOf {
  const int64_t* starts;
  int64_t groups;
  int64_t items;
  PHI_HD int64_t operator()(int64_t g) const {
    return (g + 1 < groups ? starts[g + 1] : items) - starts[g];
  }
};

/// group_of[order[s]] = the group of sorted position s.
__global__ void write_groups(const int64_t* order, gpu::GroupOf group, int64_t n,
                             int64_t* group_of) {
  for (int64_t s = gpu::first_item(); s < n; s += gpu::item_stride()) group_of[order[s]] = group(s);
}

template <typename To, typename F>
struct ConvertTo {
  F f;
  PHI_HD To operator()(int64_t i) const { return static_cast<To>(f(i)); }
};

struct ElementOf {
  const int64_t* values;
  PHI_HD int64_t operator()(int64_t i) const { return values[i]; }
};

/// Sets *out to a new array of f(i) for i < n, in int32 or int64.
template <typename F>
void assign_integers(const GpuContext& ctx, DataType dtype, int64_t n, const F& f,
                     DenseTensor* out) {
  *out = DenseTensor::empty({{n}, dtype, out->meta().layout}, ctx.place());
  if (dtype == DataType::INT32) {
    return index_loop(ctx, out->mutable_data<int32_t>(), n, ConvertTo<int32_t, F>{f});
  }
  index_loop(ctx, out->mutable_data<int64_t>(), n, f);
}

/// Sets *out to a new array of the items `chosen` of x.
template <typename T>
void assign_items(const GpuContext& ctx, const ItemsOf<T>& from, const DenseTensor& chosen,
                  DataType dtype, DenseTensor* out) {
  using W = width_t<T>;
  Dims dims = from.dims;
  dims[from.at] = chosen.numel();
  *out = DenseTensor::empty({dims, dtype, out->meta().layout}, ctx.place());
  if (out->numel() == 0) return;
  const Items<T>& items = from.items;
  read_slices(ctx, Slices{items.outer, items.items, items.inner}, chosen,
              reinterpret_cast<const W*>(items.data), static_cast<W*>(out->mutable_raw_data()));
}

}  // namespace

template <typename T, typename Context>
void UniqueKernel(const Context& ctx, const DenseTensor& x, bool return_index, bool return_inverse,
                  bool return_counts, const std::vector<int>& axis, DataType dtype,
                  DenseTensor* out, DenseTensor* indices, DenseTensor* inverse,
                  DenseTensor* counts) {
  const ItemsOf<T> from(x, axis);
  const int64_t n = from.items.items;
  const DenseTensor order = order_items(ctx, x, from.items);
  const auto* places = order.data<int64_t>();
  const gpu::SelectedIndices starts =
      gpu::select_indices(ctx, n, BeginsGroup<T>{from.items, places});
  const int64_t groups = starts.count();
  DenseTensor firsts = DenseTensor::empty(starts.places.meta(), ctx.place());
  unary_loop(ctx, starts.places.data<int64_t>(), firsts.mutable_data<int64_t>(), groups,
             FirstOf{places});
  assign_items(ctx, from, firsts, x.dtype(), out);
  if (return_index && indices) {
    assign_integers(ctx, dtype, groups, ElementOf{firsts.data<int64_t>()}, indices);
  }
  if (return_counts && counts) {
    assign_integers(ctx, dtype, groups, SizeOf{starts.places.data<int64_t>(), groups, n}, counts);
  }
  if (!return_inverse || !inverse) return;
  DenseTensor group_of = DenseTensor::empty(order.meta(), ctx.place());
  if (n > 0) {
    gpu::launch(ctx, write_groups, gpu::blocks_for(ctx, n), gpu::kBlock, places,
                gpu::GroupOf{starts.before.data<int64_t>()}, n, group_of.mutable_data<int64_t>());
  }
  assign_integers(ctx, dtype, n, ElementOf{group_of.data<int64_t>()}, inverse);
}

template <typename T, typename Context>
void UniqueConsecutiveKernel(const Context& ctx, const DenseTensor& x, bool return_inverse,
                             bool return_counts, const std::vector<int>& axis, DataType dtype,
                             DenseTensor* out, DenseTensor* index, DenseTensor* counts) {
  const ItemsOf<T> from(x, axis);
  const int64_t n = from.items.items;
  const gpu::SelectedIndices starts = gpu::select_indices(ctx, n, BeginsRun<T>{from.items});
  assign_items(ctx, from, starts.places, x.dtype(), out);
  if (return_inverse && index) {
    assign_integers(ctx, dtype, n, gpu::GroupOf{starts.before.data<int64_t>()}, index);
  }
  if (return_counts && counts) {
    assign_integers(ctx, dtype, starts.count(),
                    SizeOf{starts.places.data<int64_t>(), starts.count(), n}, counts);
  }
}

PHI_REGISTER_KERNEL(unique, GPU, UniqueKernel, AllTypes);
PHI_REGISTER_KERNEL(unique_consecutive, GPU, UniqueConsecutiveKernel, AllTypes);

}  // namespace phi
