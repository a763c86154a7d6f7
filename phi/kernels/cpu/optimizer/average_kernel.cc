// Averages of weights on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/updates.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

/// sums[i] += x[i], which is how single weights are averaged; the sum so far moves on where it has
/// as many terms as a float can tell apart.
constexpr int64_t kMostInOneSum = 16384;

template <typename C, typename T>
void add_to(const T* x, C* sums, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) sums[i] += static_cast<C>(x[i]);
}

}  // namespace

/// The average of weights over the last steps: sum 1 takes param, and moves to sum 2 now and then.
/// When there are as many terms as the window wants, min(max_average_window, average_window *
/// updates) but at least min_average_window, both move to sum 3 and the count begins anew.
template <typename T, typename Context>
void AverageAccumulatesKernel(const Context&, const DenseTensor& param, const DenseTensor& in_sum_1,
                              const DenseTensor& in_sum_2, const DenseTensor& in_sum_3,
                              const DenseTensor& in_num_accumulates,
                              const DenseTensor& in_old_num_accumulates,
                              const DenseTensor& in_num_updates, float average_window,
                              int64_t max_average_window, int64_t min_average_window,
                              DenseTensor* out_sum_1, DenseTensor* out_sum_2,
                              DenseTensor* out_sum_3, DenseTensor* out_num_accumulates,
                              DenseTensor* out_old_num_accumulates, DenseTensor* out_num_updates) {
  using C = compute_t<T>;
  const int64_t n = param.numel();
  int64_t terms = number_at<int64_t>(in_num_accumulates) + 1;
  int64_t old_terms = number_at<int64_t>(in_old_num_accumulates);
  const int64_t updates = number_at<int64_t>(in_num_updates) + 1;
  keep(in_sum_1, out_sum_1);
  keep(in_sum_2, out_sum_2);
  keep(in_sum_3, out_sum_3);
  C* sum1 = out_sum_1->mutable_data<C>();
  C* sum2 = out_sum_2->mutable_data<C>();
  C* sum3 = out_sum_3->mutable_data<C>();
  add_to(param.data<T>(), sum1, n);
  if (updates % kMostInOneSum == 0) {
    add_to(sum1, sum2, n);
    std::fill_n(sum1, n, C(0));
  }
  const auto window = truncated<int64_t>(static_cast<float>(updates) * average_window);
  if (terms >= min_average_window && terms >= std::min(max_average_window, window)) {
    std::copy_n(sum1, n, sum3);
    add_to(sum2, sum3, n);
    std::fill_n(sum1, n, C(0));
    std::fill_n(sum2, n, C(0));
    old_terms = terms;
    terms = 0;
  }
  set_number(out_num_accumulates, terms);
  set_number(out_old_num_accumulates, old_terms);
  set_number(out_num_updates, updates);
}

PHI_REGISTER_KERNEL(average_accumulates, CPU, AverageAccumulatesKernel, Floats);

}  // namespace phi
