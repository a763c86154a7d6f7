// Averages of weights over steps, on the CPU.
#include <algorithm>

#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/updates.h"
#include "phi/kernels/cpu/numbers.h"
#include "phi/kernels/functors/weight_average.h"

namespace phi {
namespace {

template <typename C, typename T>
void add_to(const T* x, C* sums, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) sums[i] += static_cast<C>(x[i]);
}

}  // namespace

/// Sums and counts are those of AverageStep.
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
  const AverageStep step = AverageWindow{average_window, max_average_window, min_average_window}(
      number_at<int64_t>(in_num_accumulates), number_at<int64_t>(in_old_num_accumulates),
      number_at<int64_t>(in_num_updates));
  keep(in_sum_1, out_sum_1);
  keep(in_sum_2, out_sum_2);
  keep(in_sum_3, out_sum_3);
  C* sum1 = out_sum_1->mutable_data<C>();
  C* sum2 = out_sum_2->mutable_data<C>();
  C* sum3 = out_sum_3->mutable_data<C>();
  add_to(param.data<T>(), sum1, n);
  if (step.moves) {
    add_to(sum1, sum2, n);
    std::fill_n(sum1, n, C(0));
  }
  if (step.restarts) {
    std::copy_n(sum1, n, sum3);
    add_to(sum2, sum3, n);
    std::fill_n(sum1, n, C(0));
    std::fill_n(sum2, n, C(0));
  }
  set_number(out_num_accumulates, step.terms);
  set_number(out_old_num_accumulates, step.old_terms);
  set_number(out_num_updates, step.updates);
}

PHI_REGISTER_KERNEL(average_accumulates, CPU, AverageAccumulatesKernel, Floats);

}  // namespace phi
