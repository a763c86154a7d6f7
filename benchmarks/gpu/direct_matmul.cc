// cuBLASLt's own steps, as its manual gives them: description, layouts, the algorithm that it finds
// best, product.
#include "benchmarks/gpu/direct_matmul.h"

#include "api/generated/ops/full.h"
#include "phi/common/errors.h"
#include "phi/gpu/cublaslt.h"
#include "phi/gpu/gpu_device.h"

namespace phi::gpu_bench {
namespace {

constexpr size_t kWorkspace = size_t{32} << 20;

void check(cublasStatus_t status) {
  PHI_CHECK(status == CUBLAS_STATUS_SUCCESS,
            errors::Unavailable("cuBLASLt, called directly: {} (status {}).",
                                gpu::cublaslt().cublasLtGetStatusString(status),
                                static_cast<int>(status)));
}

}  // namespace

struct DirectMatmul::Plan {
  gpu::GpuDevice& device;
  cublasLtHandle_t handle = nullptr;
  cublasLtMatmulDesc_t description = nullptr;
  cublasLtMatrixLayout_t layout = nullptr;  // of all three matrices
  cublasLtMatmulAlgo_t algorithm{};
  Tensor workspace = {};
};

DirectMatmul::DirectMatmul(const Place& place, DataType dtype, int64_t n)
    : plan_(new Plan{.device = gpu::GpuDevice::of(place)}) {
  const gpu::CublasLt& lt = gpu::cublaslt();
  const cudaDataType_t type = dtype == DataType::BFLOAT16 ? CUDA_R_16BF : CUDA_R_32F;
  plan_->workspace = full({static_cast<int64_t>(kWorkspace)}, 0, DataType::UINT8);
  plan_->device.make_current();
  check(lt.cublasLtCreate(&plan_->handle));
  check(lt.cublasLtMatmulDescCreate(&plan_->description, CUBLAS_COMPUTE_32F, CUDA_R_32F));
  const auto side = static_cast<uint64_t>(n);
  check(lt.cublasLtMatrixLayoutCreate(&plan_->layout, type, side, side, n));
  cublasLtMatmulPreference_t preference = nullptr;
  check(lt.cublasLtMatmulPreferenceCreate(&preference));
  check(lt.cublasLtMatmulPreferenceSetAttribute(
      preference, CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, &kWorkspace, sizeof(kWorkspace)));
  if (dtype == DataType::BFLOAT16) {  // ours rounds its sums once
    const uint32_t schemes = CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE;
    check(lt.cublasLtMatmulPreferenceSetAttribute(
        preference, CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK, &schemes, sizeof(schemes)));
  }
  cublasLtMatmulHeuristicResult_t best{};
  int found = 0;
  check(lt.cublasLtMatmulAlgoGetHeuristic(plan_->handle, plan_->description, plan_->layout,
                                          plan_->layout, plan_->layout, plan_->layout, preference,
                                          1, &best, &found));
  lt.cublasLtMatmulPreferenceDestroy(preference);
  check(found > 0 ? best.state : CUBLAS_STATUS_NOT_SUPPORTED);
  plan_->algorithm = best.algo;
}

DirectMatmul::~DirectMatmul() {
  plan_->device.wait();
  gpu::cublaslt().cublasLtMatrixLayoutDestroy(plan_->layout);
  gpu::cublaslt().cublasLtMatmulDescDestroy(plan_->description);
}

void DirectMatmul::run(const Tensor& a, const Tensor& b, Tensor& c) const {
  const float one = 1, zero = 0;
  void* const out = c.dense().mutable_raw_data();
  // cuBLASLt's matrices lie column by column, so for it ours are transposed: c^T = b^T a^T.
  check(gpu::cublaslt().cublasLtMatmul(
      plan_->handle, plan_->description, &one, b.dense().raw_data(), plan_->layout,
      a.dense().raw_data(), plan_->layout, &zero, out, plan_->layout, out, plan_->layout,
      &plan_->algorithm, plan_->workspace.dense().mutable_raw_data(), kWorkspace,
      plan_->device.compute()));
}

}  // namespace phi::gpu_bench
