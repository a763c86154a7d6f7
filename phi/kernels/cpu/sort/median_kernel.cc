// nanmedian and its gradient on the CPU.
#include <string>

#include "phi/common/errors.h"
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/sort.h"
#include "phi/kernels/cpu/gathered_rows.h"
#include "phi/kernels/cpu/sort/row_order.h"
#include "phi/kernels/functors/median.h"

namespace phi {
namespace {

/// Returns the positions of the two middle elements without NaN: twice the same if their number is
/// odd, -1 if there are none.
template <typename C>
std::pair<int64_t, int64_t> middle_places(RowOrder<C>& order, const C* row, int64_t n) {
  const int64_t numbers = std::count_if(row, row + n, [](C x) { return x == x; });
  if (numbers == 0) return {-1, -1};
  auto& entries = order.rank(row, n);
  const auto upper = entries.begin() + numbers / 2;
  std::nth_element(entries.begin(), upper, entries.end());
  if (numbers % 2 == 1) return {upper->place, upper->place};
  return {std::max_element(entries.begin(), upper)->place, upper->place};
}

}  // namespace

/// The median of each row without NaN; NaN if there are only NaN. Between two elements it is their
/// mean with `mode` "avg", otherwise the lower one. medians: their positions, two per row for
/// "avg", otherwise one.
template <typename T, typename Context>
void NanmedianKernel(const Context&, const DenseTensor& x, const IntArray& axis,
                     const std::string& mode, DenseTensor* out, DenseTensor* medians) {
  using C = compute_t<T>;
  const bool both = mode == "avg";
  GatheredRows<T> rows(x.data<T>(), x.dims(), normalise_axes(axis, x.dims()));
  RowOrder<C> order;
  T* to = out->mutable_data<T>();
  auto* places = medians->mutable_data<int64_t>();
  rows.for_each([&](int64_t r, const C* row) {
    const auto [lower, upper] = middle_places(order, row, rows.length());
    if (lower < 0) {
      to[r] = static_cast<T>(std::numeric_limits<C>::quiet_NaN());
    } else {
      to[r] = static_cast<T>(both ? middle(row[lower], row[upper]) : row[lower]);
    }
    if (!both) return void(places[r] = lower);
    places[2 * r] = lower;
    places[2 * r + 1] = upper;
  });
}

/// Each of the two middle elements gets half of the gradient.
///
/// Errors   InvalidArgument for positions outside the row.
template <typename T, typename Context>
void NanmedianGradKernel(const Context&, const DenseTensor& medians, const DenseTensor& out_grad,
                         const IntArray& axis, DenseTensor* x_grad) {
  using C = compute_t<T>;
  const RowOffsets rows(x_grad->dims(), normalise_axes(axis, x_grad->dims()));
  T* to = x_grad->mutable_data<T>();
  std::fill_n(to, x_grad->numel(), T(0));
  if (x_grad->numel() == 0) return;
  std::vector<int64_t> offsets(static_cast<size_t>(rows.length()));
  rows.for_each_element([&](int64_t k, int64_t offset) { offsets[k] = offset; });
  const int64_t each = medians.numel() / rows.count();
  const auto* places = medians.data<int64_t>();
  const T* grads = out_grad.data<T>();
  rows.for_each_row([&](int64_t r, int64_t first) {
    const C share = static_cast<C>(grads[r]) / static_cast<C>(each);
    for (int64_t m = r * each; m < (r + 1) * each; ++m) {
      if (places[m] < 0) continue;
      PHI_CHECK(places[m] < rows.length(),
                errors::InvalidArgument(
                    "medians hold {}, but a row has {} elements; pass those of the forward call.",
                    places[m], rows.length()));
      T& target = to[first + offsets[places[m]]];
      target = static_cast<T>(static_cast<C>(target) + share);
    }
  });
}

PHI_REGISTER_KERNEL(nanmedian, CPU, NanmedianKernel, SignedNumbers);
PHI_REGISTER_KERNEL(nanmedian_grad, CPU, NanmedianGradKernel, Floats);

}  // namespace phi
