// unique_consecutive on the CPU: of runs of equal items the first stays.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/kernels/cpu/order/items.h"

namespace phi {

/// Of dtype `dtype`, and only if asked for: for each item of x its place in out (index), and how
/// long its run is (counts).
template <typename T, typename Context>
void UniqueConsecutiveKernel(const Context&, const DenseTensor& x, bool return_inverse,
                             bool return_counts, const std::vector<int>& axis, DataType dtype,
                             DenseTensor* out, DenseTensor* index, DenseTensor* counts) {
  const ItemsOf<T> from(x, axis);
  const int64_t n = from.items.items;
  std::vector<int64_t> starts;
  std::vector<int64_t> run_of(return_inverse ? static_cast<size_t>(n) : 0);
  for (int64_t i = 0; i < n; ++i) {
    if (i == 0 || !are_equal(from.items, i - 1, i)) starts.push_back(i);
    if (return_inverse) run_of[i] = static_cast<int64_t>(starts.size()) - 1;
  }
  const auto runs = static_cast<int64_t>(starts.size());
  assign_items(
      x, from, runs, [&](int64_t r) { return starts[r]; }, out);
  if (return_inverse && index) {
    assign_integers(
        dtype, n, x.place(), [&](int64_t i) { return run_of[i]; }, index);
  }
  if (return_counts && counts) {
    const auto length = [&](int64_t r) { return (r + 1 < runs ? starts[r + 1] : n) - starts[r]; };
    assign_integers(dtype, runs, x.place(), length, counts);
  }
}

PHI_REGISTER_KERNEL(unique_consecutive, CPU, UniqueConsecutiveKernel, AllTypes);

}  // namespace phi
