// Batched matmuls as GEMM calls.
#include "phi/kernels/cpu/matmul/batched_matmul.h"

#include <algorithm>
#include <memory>
#include <type_traits>

#include "phi/kernels/cpu/convert.h"
#include "phi/kernels/cpu/matmul/gemm.h"
#include "phi/kernels/cpu/matmul/gemm_scratch.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

template <typename T, typename Out>
void multiply_batches(const GemmPlan& plan, const T* a, const T* b, Out* c) {
  const GemmShape& s = plan.shape;
  if (plan.summed.turns() == 0) std::fill_n(c, s.m * s.n, Out(0));
  accumulator_t<T> beta = 0;
  plan.summed.for_each([&](const std::array<int64_t, 3>& at) {
    gemm<T>(s, 1, a + at[0], plan.lda, b + at[1], plan.ldb, beta, c, s.n);
    beta = 1;
  });
}

/// The type of sums over several batch elements.
template <typename T>
using batch_sum_t = std::conditional_t<kIs16Bit<T>, float, T>;

/// Half precision: several summed batch elements are accumulated in float, because a sum in half
/// precision would be rounded after each.
template <typename T>
void multiply_16bit(const GemmPlan& plan, const T* a, const T* b, T* c) {
  if (plan.summed.turns() == 1) return multiply_batches(plan, a, b, c);
  const int64_t n = plan.shape.m * plan.shape.n;
  const auto sum = std::make_unique_for_overwrite<batch_sum_t<T>[]>(n);
  multiply_batches(plan, a, b, sum.get());
  convert(sum.get(), c, n);
}

}  // namespace

template <typename T>
void batched_matmul(const GemmOperand& a, const T* a_data, const GemmOperand& b, const T* b_data,
                    const MatrixBatch& c, T* c_data) {
  const GemmPlan plan = plan_gemms(a, b, c);
  if (plan.shape.m == 0 || plan.shape.n == 0) return;
  plan.kept.for_each([&](const std::array<int64_t, 3>& at) {
    if constexpr (kIs16Bit<T>) {
      multiply_16bit(plan, a_data + at[0], b_data + at[1], c_data + at[2]);
    } else {
      multiply_batches(plan, a_data + at[0], b_data + at[1], c_data + at[2]);
    }
  });
}

template <typename T>
void plan_batched_matmul(const GemmOperand& a, const GemmOperand& b, const MatrixBatch& c,
                         PlannedScratch* scratch) {
  const GemmPlan plan = plan_gemms(a, b, c);
  if (plan.kept.turns() == 0 || plan.summed.turns() == 0) return;
  if (plan.summed.turns() == 1) return plan_gemm_scratch<T, T>(plan.shape, scratch);
  plan_gemm_scratch<T, batch_sum_t<T>>(plan.shape, scratch);
}

#define PHI_INSTANTIATE_BATCHED_MATMUL(T)                                                          \
  template void batched_matmul(const GemmOperand&, const T*, const GemmOperand&, const T*,         \
                               const MatrixBatch&, T*);                                            \
  template void plan_batched_matmul<T>(const GemmOperand&, const GemmOperand&, const MatrixBatch&, \
                                       PlannedScratch*)
PHI_INSTANTIATE_BATCHED_MATMUL(float);
PHI_INSTANTIATE_BATCHED_MATMUL(double);
PHI_INSTANTIATE_BATCHED_MATMUL(bfloat16);
PHI_INSTANTIATE_BATCHED_MATMUL(float16);
PHI_INSTANTIATE_BATCHED_MATMUL(complex64);
PHI_INSTANTIATE_BATCHED_MATMUL(complex128);
PHI_INSTANTIATE_BATCHED_MATMUL(int32_t);
PHI_INSTANTIATE_BATCHED_MATMUL(int64_t);
#undef PHI_INSTANTIATE_BATCHED_MATMUL

}  // namespace phi
