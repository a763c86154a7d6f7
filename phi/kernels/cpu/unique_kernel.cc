// unique on the CPU: items (elements, or slices along an axis) are sorted by index, then grouped.
#include <algorithm>
#include <numeric>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// x as items that are compared as a whole: item i consists of the elements
/// data[o * items * inner + i * inner + e] for all o < outer, e < inner.
template <typename T>
struct Items {
  const T* data;
  int64_t outer;
  int64_t items;
  int64_t inner;

  const T* part(int64_t o, int64_t i) const { return data + (o * items + i) * inner; }
};

/// -1, 0, 1; NaN equals NaN and is larger than everything else.
template <typename T>
int compare(T a, T b) {
  if constexpr (kIs16Bit<T>) {
    return compare(static_cast<float>(a), static_cast<float>(b));
  } else {
    if (a < b) return -1;
    if (b < a) return 1;
    const bool a_nan = a != a;
    const bool b_nan = b != b;
    return static_cast<int>(a_nan) - static_cast<int>(b_nan);
  }
}

template <typename T>
int compare_items(const Items<T>& x, int64_t i, int64_t j) {
  for (int64_t o = 0; o < x.outer; ++o) {
    const T* a = x.part(o, i);
    const T* b = x.part(o, j);
    for (int64_t e = 0; e < x.inner; ++e) {
      const int order = compare(a[e], b[e]);
      if (order != 0) return order;
    }
  }
  return 0;
}

/// Sorted items in groups of equal ones: group g is order[starts[g]] ... order[starts[g + 1] - 1],
/// the first occurrence in front.
struct Groups {
  std::vector<int64_t> order;
  std::vector<int64_t> starts;
  int64_t size() const { return static_cast<int64_t>(starts.size()) - 1; }
};

template <typename T>
Groups group(const Items<T>& x) {
  Groups groups;
  groups.order.resize(x.items);
  std::iota(groups.order.begin(), groups.order.end(), int64_t{0});
  std::stable_sort(groups.order.begin(), groups.order.end(),
                   [&](int64_t i, int64_t j) { return compare_items(x, i, j) < 0; });
  for (int64_t s = 0; s < x.items; ++s) {
    if (s == 0 || compare_items(x, groups.order[s - 1], groups.order[s]) != 0)
      groups.starts.push_back(s);
  }
  groups.starts.push_back(x.items);
  return groups;
}

/// Assigns *out with `value(i)` for i < n, in int32 or int64.
template <typename Value>
void assign_integers(DataType dtype, int64_t n, const Place& place, Value value, DenseTensor* out) {
  *out = DenseTensor::empty({{n}, dtype, out->meta().layout}, place);
  if (dtype == DataType::INT32) {
    auto* to = out->mutable_data<int32_t>();
    for (int64_t i = 0; i < n; ++i) to[i] = static_cast<int32_t>(value(i));
  } else {
    auto* to = out->mutable_data<int64_t>();
    for (int64_t i = 0; i < n; ++i) to[i] = value(i);
  }
}

template <typename T>
void assign_items(const Items<T>& x, const Groups& groups, const TensorMeta& meta,
                  const Place& place, DenseTensor* out) {
  *out = DenseTensor::empty(meta, place);
  T* to = out->mutable_data<T>();
  for (int64_t o = 0; o < x.outer; ++o) {
    for (int64_t g = 0; g < groups.size(); ++g)
      to = std::copy_n(x.part(o, groups.order[groups.starts[g]]), x.inner, to);
  }
}

}  // namespace

/// The different values of x in rising order; with an axis, the different slices along it in
/// lexicographic order. NaN counts as one value, larger than all others.
///
/// Of dtype `dtype`, and only if asked for: indices of first occurrences, for each item of x its
/// place in out (inverse), and for each item of out how often it occurs (counts).
template <typename T, typename Context>
void UniqueKernel(const Context&, const DenseTensor& x, bool return_index, bool return_inverse,
                  bool return_counts, const std::vector<int>& axis, DataType dtype,
                  DenseTensor* out, DenseTensor* indices, DenseTensor* inverse,
                  DenseTensor* counts) {
  Items<T> items{x.data<T>(), 1, x.numel(), 1};
  Dims dims{items.items};
  int at = 0;
  if (!axis.empty()) {
    dims = x.dims();
    at = axis[0] < 0 ? axis[0] + dims.ndim() : axis[0];
    items = {x.data<T>(), dims.numel(0, at), dims[at], dims.numel(at + 1, dims.ndim())};
  }
  const Groups groups = group(items);
  dims[at] = groups.size();
  const Place place = x.place();
  assign_items(items, groups, {dims, x.dtype(), out->meta().layout}, place, out);
  const auto first = [&](int64_t g) { return groups.order[groups.starts[g]]; };
  const auto count = [&](int64_t g) { return groups.starts[g + 1] - groups.starts[g]; };
  if (return_index && indices) assign_integers(dtype, groups.size(), place, first, indices);
  if (return_counts && counts) assign_integers(dtype, groups.size(), place, count, counts);
  if (return_inverse && inverse) {
    std::vector<int64_t> group_of(items.items);
    for (int64_t g = 0; g < groups.size(); ++g) {
      for (int64_t s = groups.starts[g]; s < groups.starts[g + 1]; ++s)
        group_of[groups.order[s]] = g;
    }
    assign_integers(
        dtype, items.items, place, [&](int64_t i) { return group_of[i]; }, inverse);
  }
}

PHI_REGISTER_KERNEL(unique, CPU, UniqueKernel, AllTypes);

}  // namespace phi
