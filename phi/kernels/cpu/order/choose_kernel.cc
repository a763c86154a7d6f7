// argsort, topk, kthvalue and mode on the CPU: lines along an axis are ordered, and some of each
// are given with their places. The gradient of all puts back what was chosen.
#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/order.h"
#include "phi/kernels/cpu/axis_view.h"
#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/order/row_order.h"

namespace phi {
namespace {

/// Gives `count` elements of each line along `axis`: choose(line, its order, give) calls
/// give(k, place) for each k < count.
template <typename T, typename Choose>
void choose_along(const DenseTensor& x, int axis, int64_t count, DenseTensor* out,
                  DenseTensor* indices, Choose choose) {
  if (x.numel() == 0) return;
  using C = compute_t<T>;
  const AxisView view(x.dims(), axis);
  const T* from = x.data<T>();
  T* values = out->mutable_data<T>();
  auto* places = indices->mutable_data<int64_t>();
  std::vector<C> line(static_cast<size_t>(view.n));
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

/// The first k of a row's entries in front, in order if `sorted`.
template <typename C>
const auto& select_first(RowOrder<C>& order, const C* row, int64_t n, int64_t k, bool descending,
                         bool sorted) {
  // Few of many go to their places one by one, in time that grows with their number.
  constexpr int64_t kFew = 64;
  constexpr int64_t kShare = 12;
  if (k <= kFew && k * kShare < n) return order.first_few(row, n, k, descending);
  auto& entries = order.rank(row, n, descending);
  const auto last = entries.begin() + k;
  std::nth_element(entries.begin(), last - 1, entries.end());
  if (sorted) std::sort(entries.begin(), last);
  return entries;
}

/// The last place of the most frequent element of ordered entries, the smallest of those.
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

template <typename T, typename Index>
void put_back(const Index* indices, const T* grads, const AxisView& view, int64_t count, T* to) {
  using C = compute_t<T>;
  std::vector<C> line(static_cast<size_t>(view.n));
  for (int64_t o = 0; o < view.outer; ++o) {
    for (int64_t i = 0; i < view.inner; ++i) {
      std::fill(line.begin(), line.end(), C(0));
      for (int64_t k = 0; k < count; ++k) {
        const int64_t at = (o * count + k) * view.inner + i;
        const auto place = static_cast<int64_t>(indices[at]);
        PHI_CHECK(place >= 0 && place < view.n,
                  errors::InvalidArgument("indices hold {}, but there are {} elements along the "
                                          "axis; give those of the forward call.",
                                          place, view.n));
        line[place] += static_cast<C>(grads[at]);
      }
      T* first = to + view.start(o, i);
      for (int64_t k = 0; k < view.n; ++k) first[k * view.inner] = static_cast<T>(line[k]);
    }
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

/// The k-th smallest element, counted from 1.
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

/// x_grad: each element of out_grad added at its place along `axis`. Errors: InvalidArgument for a
/// place that is not there.
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

PHI_REGISTER_KERNEL(argsort, CPU, ArgsortKernel, Numbers);
PHI_REGISTER_KERNEL(topk, CPU, TopkKernel, Numbers);
PHI_REGISTER_KERNEL(kthvalue, CPU, KthvalueKernel, Numbers);
PHI_REGISTER_KERNEL(mode, CPU, ModeKernel, Numbers);
PHI_REGISTER_KERNEL(put_back, CPU, PutBackKernel, Floats);

}  // namespace phi
