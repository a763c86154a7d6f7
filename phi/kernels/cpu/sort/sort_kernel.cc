// argsort, topk, kthvalue and mode on the CPU: order the lines along an axis and return some
// elements of each with their positions. put_back is the gradient of all of them.
#include <algorithm>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/rows.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/cpu/sort/row_order.h"

namespace phi {
namespace {

/// Writes `count` elements of each line along `axis` and their positions. choose(line, its order,
/// give) calls give(k, position) for each k < count.
template <typename T, typename Choose>
void choose_along(const DenseTensor& x, int axis, int64_t count, DenseTensor* out,
                  DenseTensor* indices, Choose choose) {
  if (x.numel() == 0) return;
  using C = compute_t<T>;
  const AxisView view(x.dims(), axis);
  const T* from = x.data<T>();
  T* values = out->mutable_data<T>();
  auto* places = indices->mutable_data<int64_t>();
  ScratchVector<C> line(static_cast<size_t>(view.n));
  RowOrder<C> order;
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      const T* first = from + view.start(o, i);
      for (int64_t k = 0; k < view.n; ++k) line[k] = static_cast<C>(first[k * view.inner]);
      const int64_t at = o * count * view.inner + i;
      choose(line, order, [&](int64_t k, int64_t place) {
        values[at + k * view.inner] = first[place * view.inner];
        places[at + k * view.inner] = place;
      });
    }
  }
}

/// Moves the first k of a row's entries to the front, in order if `sorted`.
template <typename C>
const auto& select_first(RowOrder<C>& order, const C* row, int64_t n, int64_t k, bool descending,
                         bool sorted) {
  // A few of many entries are inserted one by one, which takes time proportional to k.
  constexpr int64_t kFew = 64;
  constexpr int64_t kShare = 12;
  if (k <= kFew && k * kShare < n) return order.first_few(row, n, k, descending);
  auto& entries = order.rank(row, n, descending);
  const auto last = entries.begin() + k;
  std::nth_element(entries.begin(), last - 1, entries.end());
  if (sorted) std::sort(entries.begin(), last);
  return entries;
}

/// Returns the last position of the most frequent element of ordered entries; the smallest one if
/// there are several.
template <typename Entries>
int64_t most_frequent(const Entries& entries) {
  int64_t most = 0;
  int64_t place = 0;
  int64_t begin = 0;
  const auto n = static_cast<int64_t>(entries.size());
  for (int64_t i = 1; i <= n; ++i) {
    if (i < n && entries[i].key == entries[begin].key) continue;
    if (i - begin > most) {
      most = i - begin;
      place = entries[i - 1].place;
    }
    begin = i;
  }
  return place;
}

/// Not inlined, because it would slow the loops down.
[[noreturn, gnu::cold, gnu::noinline]] void throw_outside_line(int64_t place, int64_t n) {
  throw errors::InvalidArgument(
      "indices hold {}, but there are {} elements along the axis; pass those of the forward call.",
      place, n);
}

/// Returns `place`.
///
/// Errors   InvalidArgument if it is not in [0, n).
inline int64_t checked_place(int64_t place, int64_t n) {
  if (static_cast<uint64_t>(place) >= static_cast<uint64_t>(n)) [[unlikely]]
    throw_outside_line(place, n);
  return place;
}

/// Adds the gradients [count, inner] to sums [n, inner] at their places along the axis. Places are
/// checked in the same loop, because it waits for memory anyway.
template <typename T, typename Index, typename C>
void sum_at_places(const Index* places, const T* grads, const AxisView& view, int64_t count,
                   C* sums) {
  const int64_t n = view.n;
  const int64_t inner = view.inner;
  std::fill_n(sums, n * inner, C(0));
  if (inner == 1) {
#pragma GCC unroll 4
    for (int64_t k = 0; k < count; ++k)
      sums[checked_place(places[k], n)] += static_cast<C>(grads[k]);
    return;
  }
  for (int64_t k = 0; k < count; ++k, places += inner, grads += inner) {
    for (int64_t i = 0; i < inner; ++i)
      sums[checked_place(places[i], n) * inner + i] += static_cast<C>(grads[i]);
  }
}

template <typename T, typename Index>
void put_back(const Index* places, const T* grads, const AxisView& view, int64_t count, T* to) {
  RowWriter<T> lines(to, view.n * view.inner);
  for (int64_t o = 0; o < view.outer; ++o) {
    const int64_t at = o * count * view.inner;
    sum_at_places(places + at, grads + at, view, count, lines.row(o));
    lines.done(o);
  }
}

}  // namespace

template <typename T, typename Context>
void ArgsortKernel(const Context&, const DenseTensor& x, int axis, bool descending,
                   DenseTensor* out, DenseTensor* indices) {
  const int64_t n = AxisView(x.dims(), axis).n;
  choose_along<T>(x, axis, n, out, indices, [&](const auto& line, auto& order, auto give) {
    int64_t k = 0;
    for (const auto& entry : order.sort(line.data(), n, descending)) give(k++, entry.place);
  });
}

template <typename T, typename Context>
void TopkKernel(const Context&, const DenseTensor& x, const Scalar& k, int axis, bool largest,
                bool sorted, DenseTensor* out, DenseTensor* indices) {
  const auto count = k.to<int64_t>();
  const int64_t n = AxisView(x.dims(), axis).n;
  choose_along<T>(x, axis, count, out, indices, [&](const auto& line, auto& order, auto give) {
    const auto& entries = select_first(order, line.data(), n, count, largest, sorted);
    for (int64_t i = 0; i < count; ++i) give(i, entries[i].place);
  });
}

/// Returns the k-th smallest element; k counts from 1.
template <typename T, typename Context>
void KthvalueKernel(const Context&, const DenseTensor& x, int k, int axis, DenseTensor* out,
                    DenseTensor* indices) {
  const int64_t n = AxisView(x.dims(), axis).n;
  choose_along<T>(x, axis, 1, out, indices, [&](const auto& line, auto& order, auto give) {
    auto& entries = order.rank(line.data(), n);
    std::nth_element(entries.begin(), entries.begin() + (k - 1), entries.end());
    give(0, entries[k - 1].place);
  });
}

template <typename T, typename Context>
void ModeKernel(const Context&, const DenseTensor& x, int axis, DenseTensor* out,
                DenseTensor* indices) {
  const int64_t n = AxisView(x.dims(), axis).n;
  choose_along<T>(x, axis, 1, out, indices, [&](const auto& line, auto& order, auto give) {
    give(0, most_frequent(order.sort(line.data(), n)));
  });
}

/// Adds each element of out_grad to x_grad at its position along `axis`.
///
/// Errors   InvalidArgument for a position outside the axis.
template <typename T, typename Context>
void PutBackKernel(const Context&, const DenseTensor& indices, const DenseTensor& out_grad,
                   int axis, DenseTensor* x_grad) {
  if (x_grad->numel() == 0) return;
  const AxisView view(x_grad->dims(), axis);
  const int64_t count = out_grad.numel() / (view.outer * view.inner);
  T* to = x_grad->mutable_data<T>();
  if (indices.dtype() == DataType::INT32) {
    return put_back(indices.data<int32_t>(), out_grad.data<T>(), view, count, to);
  }
  put_back(indices.data<int64_t>(), out_grad.data<T>(), view, count, to);
}

using CpuSortTypes = join_t<TypeList<int16_t>, Numbers>;

PHI_REGISTER_KERNEL(argsort, CPU, ArgsortKernel, CpuSortTypes);
PHI_REGISTER_KERNEL(topk, CPU, TopkKernel, Numbers);
PHI_REGISTER_KERNEL(kthvalue, CPU, KthvalueKernel, Numbers);
PHI_REGISTER_KERNEL(mode, CPU, ModeKernel, Numbers);
PHI_REGISTER_KERNEL(put_back, CPU, PutBackKernel, Floats);

}  // namespace phi
