// GEMM plans of cuBLASLt, cached by shapes, dtypes and alignment.
#include "phi/gpu/gemm.h"

#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstddef>
#include <map>
#include <mutex>
#include <utility>

#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/gpu/cublaslt.h"
#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu {
namespace {

// Bytes. The fastest kernels of recent GPUs need this much.
constexpr size_t kWorkspace = size_t{32} << 20;
constexpr int64_t kMostMembers = 65535;  // per call; some cuBLASLt releases reject more

/// CUDA types for a dtype: elements, accumulation, and alpha and beta.
struct CudaTypes {
  cudaDataType_t element;
  cublasComputeType_t sums;
  cudaDataType_t scale;
};

CudaTypes types_of(DataType dtype, bool tf32 = false) {
  switch (dtype) {
    case DataType::FLOAT16:
      return {CUDA_R_16F, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case DataType::BFLOAT16:
      return {CUDA_R_16BF, CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case DataType::FLOAT32:
      return {CUDA_R_32F, tf32 ? CUBLAS_COMPUTE_32F_FAST_TF32 : CUBLAS_COMPUTE_32F, CUDA_R_32F};
    case DataType::FLOAT64:
      return {CUDA_R_64F, CUBLAS_COMPUTE_64F, CUDA_R_64F};
    case DataType::COMPLEX64:
      return {CUDA_C_32F, CUBLAS_COMPUTE_32F, CUDA_C_32F};
    case DataType::COMPLEX128:
      return {CUDA_C_64F, CUBLAS_COMPUTE_64F, CUDA_C_64F};
    default:
      throw errors::Unimplemented("a matmul of {} on a GPU; cast to a floating type.",
                                  name_of(dtype));
  }
}

std::string describe_problem(const GemmProblem& p) {
  return fmt::format("[{},{}]{} x [{},{}]{} of {} to {}, batch {}", p.m, p.k,
                     p.trans_a ? " (stored transposed)" : "", p.k, p.n,
                     p.trans_b ? " (stored transposed)" : "", name_of(p.dtype), name_of(p.out),
                     p.batch);
}

void check_cublas(cublasStatus_t status, const char* what, const GemmProblem& problem) {
  if (status == CUBLAS_STATUS_SUCCESS) [[likely]]
    return;
  const char* const text = cublaslt().cublasLtGetStatusString(status);
  PHI_CHECK(status != CUBLAS_STATUS_NOT_SUPPORTED,
            errors::Unimplemented("cuBLASLt has no algorithm for the matmul {} ({}: {}).",
                                  describe_problem(problem), what, text));
  throw errors::Unavailable("{} failed for the matmul {}: {} (status {}).", what,
                            describe_problem(problem), text, static_cast<int>(status));
}

/// Deleter: destroys a cuBLASLt object with the function kMember.
template <typename Handle, auto kMember>
struct CublasLtDeleter {
  void operator()(Handle handle) const { (void)(cublaslt().*kMember)(handle); }
};
template <typename Handle, auto kMember>
using CublasLtPtr =
    std::unique_ptr<std::remove_pointer_t<Handle>, CublasLtDeleter<Handle, kMember>>;
using LayoutHandle = CublasLtPtr<cublasLtMatrixLayout_t, &CublasLt::cublasLtMatrixLayoutDestroy>;
using DescriptionHandle = CublasLtPtr<cublasLtMatmulDesc_t, &CublasLt::cublasLtMatmulDescDestroy>;
using PreferenceHandle =
    CublasLtPtr<cublasLtMatmulPreference_t, &CublasLt::cublasLtMatmulPreferenceDestroy>;

/// Layout of a row-major matrix. cuBLASLt is column-major, so it is described as its transpose.
LayoutHandle layout_of(cudaDataType_t type, int64_t rows, int64_t columns, int64_t ld,
                       int64_t batch, int64_t step, const GemmProblem& problem) {
  cublasLtMatrixLayout_t made = nullptr;
  check_cublas(cublaslt().cublasLtMatrixLayoutCreate(&made, type, static_cast<uint64_t>(columns),
                                                     static_cast<uint64_t>(rows), ld),
               "cublasLtMatrixLayoutCreate", problem);
  LayoutHandle layout(made);
  const auto set = [&](cublasLtMatrixLayoutAttribute_t which, const auto& value) {
    check_cublas(cublaslt().cublasLtMatrixLayoutSetAttribute(made, which, &value, sizeof(value)),
                 "cublasLtMatrixLayoutSetAttribute", problem);
  };
  set(CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT, static_cast<int32_t>(batch));
  set(CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET, step);
  return layout;
}

/// Arguments of one GEMM.
struct GemmCall {
  GemmProblem problem;
  double alpha;
  const void* a;
  const void* b;
  double beta;
  void* c;
};

/// Describes a contiguous column vector as a row vector, which can be read with vector loads.
void take_column_as_row(int64_t rows, int64_t columns, bool* transposed, int64_t* ld) {
  if (columns != 1 || *ld != 1) return;
  *transposed = !*transposed;
  *ld = rows;
}

/// Replaces column vectors by row vectors. The result is the same.
void take_columns_as_rows(GemmCall* call) {
  GemmProblem& p = call->problem;
  if (p.n == 1 && p.ldc == 1) {  // c^T = b^T a^T
    std::swap(call->a, call->b);
    std::swap(p.m, p.n);
    std::swap(p.lda, p.ldb);
    std::swap(p.step_a, p.step_b);
    p.trans_a = !std::exchange(p.trans_b, !p.trans_a);
    p.ldc = p.n;
  }
  take_column_as_row(p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, &p.trans_a, &p.lda);
  take_column_as_row(p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, &p.trans_b, &p.ldb);
}

/// Common alignment in bytes of the addresses of all members, at most 256, the largest that
/// algorithms require.
uint32_t alignment_of(const void* memory, int64_t batch, int64_t step, DataType dtype) {
  constexpr int kMost = 8;  // 256 bytes
  uint64_t bits = reinterpret_cast<uintptr_t>(memory);
  if (batch > 1) bits |= static_cast<uint64_t>(step) * size_of(dtype);
  return uint32_t{1} << std::min(std::countr_zero(bits), kMost);
}

struct GemmPlanKey {
  GemmProblem problem;
  bool tf32;
  std::array<uint32_t, 3> alignment;  // of b, a and c
  friend auto operator<=>(const GemmPlanKey&, const GemmPlanKey&) = default;
};

struct GemmPlan {
  DescriptionHandle description;
  LayoutHandle first, second, out;  // b, a and c: c^T = b^T a^T
  cublasLtMatmulAlgo_t algorithm;
};

}  // namespace

struct GemmRunner::State {
  std::mutex mutex;
  cublasLtHandle_t handle = nullptr;
  void* workspace = nullptr;
  std::map<GemmPlanKey, GemmPlan> plans;

  void begin(const GemmProblem& problem) {
    if (handle != nullptr) return;
    if (workspace == nullptr) PHI_GPU(cudaMalloc(&workspace, kWorkspace));
    check_cublas(cublaslt().cublasLtCreate(&handle), "cublasLtCreate", problem);
  }

  const GemmPlan& plan_for(const GemmPlanKey& key) {
    const auto it = plans.find(key);
    return it != plans.end() ? it->second : plans.emplace(key, make_plan(key)).first->second;
  }

  GemmPlan make_plan(const GemmPlanKey& key) const;
  void run(GpuDevice& device, const GemmCall& call);
  cublasLtMatmulAlgo_t choose(const GemmPlanKey& key, const GemmPlan& plan) const;
};

GemmPlan GemmRunner::State::make_plan(const GemmPlanKey& key) const {
  const GemmProblem& p = key.problem;
  const CudaTypes types = types_of(p.dtype, key.tf32);
  cublasLtMatmulDesc_t made = nullptr;
  check_cublas(cublaslt().cublasLtMatmulDescCreate(&made, types.sums, types.scale),
               "cublasLtMatmulDescCreate", p);
  GemmPlan plan;
  plan.description.reset(made);
  const auto set = [&](cublasLtMatmulDescAttributes_t which, bool transposed) {
    const cublasOperation_t operation = transposed ? CUBLAS_OP_T : CUBLAS_OP_N;
    check_cublas(
        cublaslt().cublasLtMatmulDescSetAttribute(made, which, &operation, sizeof(operation)),
        "cublasLtMatmulDescSetAttribute", p);
  };
  set(CUBLASLT_MATMUL_DESC_TRANSA, p.trans_b);
  set(CUBLASLT_MATMUL_DESC_TRANSB, p.trans_a);
  plan.first = layout_of(types.element, p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, p.ldb,
                         p.batch, p.step_b, p);
  plan.second = layout_of(types.element, p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, p.lda,
                          p.batch, p.step_a, p);
  plan.out = layout_of(types_of(p.out).element, p.m, p.n, p.ldc, p.batch, p.step_c, p);
  plan.algorithm = choose(key, plan);
  return plan;
}

cublasLtMatmulAlgo_t GemmRunner::State::choose(const GemmPlanKey& key, const GemmPlan& plan) const {
  const GemmProblem& p = key.problem;
  cublasLtMatmulPreference_t made = nullptr;
  check_cublas(cublaslt().cublasLtMatmulPreferenceCreate(&made), "cublasLtMatmulPreferenceCreate",
               p);
  const PreferenceHandle preference(made);
  const auto set = [&](cublasLtMatmulPreferenceAttributes_t which, const auto& value) {
    check_cublas(
        cublaslt().cublasLtMatmulPreferenceSetAttribute(made, which, &value, sizeof(value)),
        "cublasLtMatmulPreferenceSetAttribute", p);
  };
  set(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, kWorkspace);
  // Without this, split-k partial sums may be rounded to half precision before they are added.
  if (size_of(p.out) == 2) {
    set(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
        uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
  }
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, key.alignment[0]);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, key.alignment[1]);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, key.alignment[2]);
  set(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, key.alignment[2]);
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  check_cublas(cublaslt().cublasLtMatmulAlgoGetHeuristic(
                   handle, plan.description.get(), plan.first.get(), plan.second.get(),
                   plan.out.get(), plan.out.get(), made, 1, &best, &found),
               "cublasLtMatmulAlgoGetHeuristic", p);
  check_cublas(found > 0 ? best.state : CUBLAS_STATUS_NOT_SUPPORTED,
               "cublasLtMatmulAlgoGetHeuristic", p);
  return best.algo;
}

GemmRunner::GemmRunner() : state_(std::make_unique<State>()) {}

GemmRunner::~GemmRunner() = default;  // State is complete only here

void GemmRunner::run(GpuDevice& device, const GemmProblem& problem, double alpha, const void* a,
                     const void* b, double beta, void* c) {
  device.make_current();
  const std::lock_guard lock(state_->mutex);
  state_->begin(problem);
  const auto in = static_cast<int64_t>(size_of(problem.dtype));
  const auto out = static_cast<int64_t>(size_of(problem.out));
  for (int64_t member = 0; member < problem.batch; member += kMostMembers) {
    GemmCall call{problem,
                  alpha,
                  static_cast<const std::byte*>(a) + member * problem.step_a * in,
                  static_cast<const std::byte*>(b) + member * problem.step_b * in,
                  beta,
                  static_cast<std::byte*>(c) + member * problem.step_c * out};
    call.problem.batch = std::min(kMostMembers, problem.batch - member);
    take_columns_as_rows(&call);
    state_->run(device, call);
  }
}

void GemmRunner::State::run(GpuDevice& device, const GemmCall& call) {
  const GemmProblem& p = call.problem;
  const bool tf32 = p.dtype == DataType::FLOAT32 && RankContext::current().tf32();
  const GemmPlan& plan = plan_for({p,
                                   tf32,
                                   {alignment_of(call.b, p.batch, p.step_b, p.dtype),
                                    alignment_of(call.a, p.batch, p.step_a, p.dtype),
                                    alignment_of(call.c, p.batch, p.step_c, p.out)}});
  // alpha and beta are real; complex scale types have a second component, which is 0.
  const std::array<double, 2> wide[2] = {{call.alpha, 0}, {call.beta, 0}};
  const std::array<float, 2> narrow[2] = {{static_cast<float>(call.alpha), 0},
                                          {static_cast<float>(call.beta), 0}};
  const bool is_wide = p.dtype == DataType::FLOAT64 || p.dtype == DataType::COMPLEX128;
  const void* const scales[2] = {
      is_wide ? static_cast<const void*>(wide[0].data()) : narrow[0].data(),
      is_wide ? static_cast<const void*>(wide[1].data()) : narrow[1].data()};
  check_cublas(cublaslt().cublasLtMatmul(handle, plan.description.get(), scales[0], call.b,
                                         plan.first.get(), call.a, plan.second.get(), scales[1],
                                         call.c, plan.out.get(), call.c, plan.out.get(),
                                         &plan.algorithm, workspace, kWorkspace, device.compute()),
               "cublasLtMatmul", p);
  device.launched(cudaSuccess);
}

}  // namespace phi::gpu
