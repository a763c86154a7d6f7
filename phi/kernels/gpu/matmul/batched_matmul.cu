// Batched matmul through cuBLASLt. The longest loop over members becomes the batch of one call.
#include "phi/core/dense_tensor.h"
#include "phi/gpu/gemm.h"
#include "phi/kernels/gpu/device_primitives.h"
#include "phi/kernels/gpu/matmul/batched_matmul.h"

namespace phi {
namespace {

/// One call, and the loops over further calls.
struct GemmCalls {
  gpu::GemmProblem gemm;
  StridedWalk<3> loops;
};

template <typename T>
GemmCalls gemm_calls(const GemmPlan& plan) {
  const GemmShape& s = plan.shape;
  GemmCalls calls{{.m = s.m,
                   .n = s.n,
                   .k = s.k,
                   .trans_a = s.trans_a,
                   .trans_b = s.trans_b,
                   .lda = plan.lda,
                   .ldb = plan.ldb,
                   .ldc = s.n,
                   .dtype = dtype_of<T>(),
                   .out = dtype_of<T>()},
                  plan.kept};
  if (calls.loops.ndim() == 0) return calls;
  int longest = 0;
  for (int loop = 1; loop < calls.loops.ndim(); ++loop) {
    if (calls.loops.size(loop) > calls.loops.size(longest)) longest = loop;
  }
  calls.gemm.batch = calls.loops.size(longest);
  calls.gemm.step_a = calls.loops.stride(longest, 0);
  calls.gemm.step_b = calls.loops.stride(longest, 1);
  calls.gemm.step_c = calls.loops.stride(longest, 2);
  calls.loops.remove(longest);
  return calls;
}

/// Computes c of one call: the first summed member overwrites c, the others accumulate.
template <typename T>
void add_members(gpu::GpuDevice& device, const GemmPlan& plan, const gpu::GemmProblem& gemm,
                 const T* a, const T* b, void* c) {
  double beta = 0;
  plan.summed.for_each([&](const std::array<int64_t, 3>& at) {
    device.gemm_runner().run(device, gemm, 1.0, a + at[0], b + at[1], beta, c);
    beta = 1;
  });
}

}  // namespace

template <typename T>
void batched_matmul(const GpuContext& ctx, const GemmOperand& a, const T* a_data,
                    const GemmOperand& b, const T* b_data, const MatrixBatch& c, T* c_data) {
  const GemmPlan plan = plan_gemms(a, b, c);
  const int64_t n = c.batch.numel() * c.matrix_size();
  if (n == 0) return;
  if (plan.shape.k == 0 || plan.summed.turns() == 0) return fill(ctx, c_data, n, T(0));
  gpu::GpuDevice& device = gpu::GpuDevice::of(ctx.place());
  GemmCalls calls = gemm_calls<T>(plan);
  // In half precision the sum over members would be rounded after each one.
  const bool needs_float_sums = kIs16Bit<T> && plan.summed.turns() > 1;
  DenseTensor sums;
  if (needs_float_sums) {
    sums = DenseTensor::empty({{n}, DataType::FLOAT32}, ctx.place());
    calls.gemm.out = DataType::FLOAT32;
  }
  calls.loops.for_each([&](const std::array<int64_t, 3>& at) {
    void* const to = needs_float_sums ? static_cast<void*>(sums.mutable_data<float>() + at[2])
                                      : static_cast<void*>(c_data + at[2]);
    add_members(device, plan, calls.gemm, a_data + at[0], b_data + at[1], to);
  });
  if (needs_float_sums) convert(ctx, sums.data<float>(), c_data, n);
}

#define PHI_INSTANTIATE_BATCHED_MATMUL(T)                                       \
  template void batched_matmul(const GpuContext&, const GemmOperand&, const T*, \
                               const GemmOperand&, const T*, const MatrixBatch&, T*)
PHI_INSTANTIATE_BATCHED_MATMUL(float);
PHI_INSTANTIATE_BATCHED_MATMUL(double);
PHI_INSTANTIATE_BATCHED_MATMUL(bfloat16);
PHI_INSTANTIATE_BATCHED_MATMUL(float16);
PHI_INSTANTIATE_BATCHED_MATMUL(complex64);
PHI_INSTANTIATE_BATCHED_MATMUL(complex128);
#undef PHI_INSTANTIATE_BATCHED_MATMUL

}  // namespace phi
