// unique on the CPU: item numbers are sorted by their items (elements, or slices along an axis),
// then grouped.
#include <algorithm>
#include <limits>
#include <numeric>
#include <type_traits>
#include <utility>
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/cpu/sort/items.h"
#include "phi/kernels/cpu/sort/row_order.h"

namespace phi {
namespace {

/// Sorted items in groups of equal ones: group g is order[starts[g]] ... order[starts[g + 1] - 1],
/// with the first occurrence at the front.
struct Groups {
  ScratchVector<int64_t> order;
  ScratchVector<int64_t> starts;
  int64_t size() const { return static_cast<int64_t>(starts.size()) - 1; }
};

/// Groups single elements by their keys.
template <typename T>
Groups group_elements(const T* x, int64_t n) {
  using C = compute_t<T>;
  ScratchVector<C> widened(kIs16Bit<T> ? static_cast<size_t>(n) : 0);
  const C* row;
  if constexpr (kIs16Bit<T>) {
    convert(x, widened.data(), n);
    row = widened.data();
  } else {
    row = x;
  }
  RowOrder<C> order;
  const auto& sorted = order.sort(row, n);
  Groups groups;
  groups.order.reserve(sorted.size());
  for (int64_t s = 0; s < n; ++s) {
    if (s == 0 || sorted[s - 1].key != sorted[s].key) groups.starts.push_back(s);
    groups.order.push_back(sorted[s].place);
  }
  groups.starts.push_back(n);
  return groups;
}

/// Groups numbers below `limit`, which number(i) returns, by counting sort.
template <typename Number>
Groups group_by_counts(int64_t n, uint64_t limit, Number number) {
  ScratchVector<int64_t> ends(limit, 0);
  for (int64_t i = 0; i < n; ++i) ++ends[number(i)];
  Groups groups;
  int64_t begin = 0;
  for (int64_t& end : ends) {  // becomes the start; filling moves it to the end
    if (end > 0) groups.starts.push_back(begin);
    begin += std::exchange(end, begin);
  }
  groups.starts.push_back(n);
  groups.order.resize(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i) groups.order[ends[number(i)]++] = i;
  return groups;
}

/// Groups integers: by counting if their range is small, otherwise by sorting, in 32 bits if the
/// range allows it.
template <typename T>
Groups group_integers(const T* x, int64_t n) {
  if (n == 0) return group_elements(x, n);
  const auto [least, most] = std::minmax_element(x, x + n);
  const auto base = static_cast<uint64_t>(*least);
  const uint64_t distance = static_cast<uint64_t>(*most) - base;
  const auto above = [=](int64_t i) { return static_cast<uint64_t>(x[i]) - base; };
  if (distance < 2 * static_cast<uint64_t>(n)) return group_by_counts(n, distance + 1, above);
  if (sizeof(T) <= 4 || distance > std::numeric_limits<uint32_t>::max())
    return group_elements(x, n);
  constexpr uint32_t kSign = uint32_t{1} << 31;  // maps unsigned order to signed order
  ScratchVector<int32_t> narrow(static_cast<size_t>(n));
  for (int64_t i = 0; i < n; ++i)
    narrow[i] = static_cast<int32_t>(static_cast<uint32_t>(above(i)) ^ kSign);
  return group_elements(narrow.data(), n);
}

template <typename T>
Groups group(const Items<T>& x) {
  if (x.outer == 1 && x.inner == 1) {
    if constexpr (std::is_integral_v<T>) return group_integers(x.data, x.items);
    return group_elements(x.data, x.items);
  }
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

}  // namespace

/// out: the distinct values of x in rising order or, with an axis, the distinct slices along it in
/// lexicographic order. NaN counts as one value, larger than all others.
///
/// The other outputs are of dtype `dtype` and are written only if requested:
///
/// - indices: the first occurrence of each item of out
/// - inverse: the position in out of each item of x
/// - counts: the number of occurrences of each item of out
template <typename T, typename Context>
void UniqueKernel(const Context&, const DenseTensor& x, bool return_index, bool return_inverse,
                  bool return_counts, const std::vector<int>& axis, DataType dtype,
                  DenseTensor* out, DenseTensor* indices, DenseTensor* inverse,
                  DenseTensor* counts) {
  const ItemsOf<T> from(x, axis);
  const Groups groups = group(from.items);
  const Place place = x.place();
  const auto first = [&](int64_t g) { return groups.order[groups.starts[g]]; };
  const auto count = [&](int64_t g) { return groups.starts[g + 1] - groups.starts[g]; };
  assign_items(x, from, groups.size(), first, out);
  if (return_index && indices) assign_integers(dtype, groups.size(), place, first, indices);
  if (return_counts && counts) assign_integers(dtype, groups.size(), place, count, counts);
  if (return_inverse && inverse) {
    ScratchVector<int64_t> group_of(from.items.items);
    for (int64_t g = 0; g < groups.size(); ++g) {
      for (int64_t s = groups.starts[g]; s < groups.starts[g + 1]; ++s)
        group_of[groups.order[s]] = g;
    }
    assign_integers(
        dtype, from.items.items, place, [&](int64_t i) { return group_of[i]; }, inverse);
  }
}

PHI_REGISTER_KERNEL(unique, CPU, UniqueKernel, AllTypes);

}  // namespace phi
