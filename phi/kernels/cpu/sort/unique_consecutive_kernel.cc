// unique_consecutive on the CPU: keeps the first item of each run of equal items.
#include <vector>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/data_dependent.h"
#include "phi/kernels/cpu/scratch.h"
#include "phi/kernels/cpu/sort/items.h"
#include "phi/kernels/cpu/workspace.h"

namespace phi {

/// index: the position in out of each item of x. counts: the length of each run. Both are of dtype
/// `dtype` and are written only if requested.
template <typename T, typename Context>
void UniqueConsecutiveKernel(const Context&, const DenseTensor& x, bool return_inverse,
                             bool return_counts, const std::vector<int>& axis, DataType dtype,
                             DenseTensor* out, DenseTensor* index, DenseTensor* counts) {
  const ItemsOf<T> from(x, axis);
  const int64_t n = from.items.items;
  Workspace room;
  int64_t* const starts = room.room<int64_t>(n);
  ScratchVector<int64_t> run_of(return_inverse ? static_cast<size_t>(n) : 0);
  int64_t runs = 0;
  // The start is always written and counted only if it begins a run: a branch would be
  // mispredicted.
  const auto find_runs = [&](auto differ) {
    for (int64_t i = 0; i < n; ++i) {
      starts[runs] = i;
      runs += i == 0 || differ(i - 1, i) ? 1 : 0;
      if (return_inverse) run_of[i] = runs - 1;
    }
  };
  const Items<T>& items = from.items;
  if (items.outer == 1 && items.inner == 1) {
    using C = compute_t<T>;
    find_runs([x = items.data](int64_t i, int64_t j) {
      return static_cast<C>(x[i]) != static_cast<C>(x[j]);
    });
  } else {
    find_runs([&](int64_t i, int64_t j) { return !are_equal(items, i, j); });
  }
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
