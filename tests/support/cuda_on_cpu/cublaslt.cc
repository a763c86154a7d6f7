// cuBLASLt: descriptors, choice of an algorithm, and matmuls in stream order.
#include <cublasLt.h>
#include <cublas_v2.h>
#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "support/cuda_on_cpu/cublaslt_types.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/gpu.h"
#include "support/cuda_on_cpu/streams.h"

struct cublasLtContext {
  int device;
};

namespace cuda_on_cpu {
namespace {

constexpr uint64_t kWorkspace = uint64_t{1} << 20;  // workspace of the only algorithm, if available
constexpr size_t kWorkspaceAlignment = 16;
constexpr int kNaNByte = 0xff;

cublasStatus_t refused(const std::string& why) {
  explain("cublasLtMatmul: " + why);
  return CUBLAS_STATUS_INVALID_VALUE;
}

// Contents of a plan, stored in cuBLASLt's own algorithm struct.
struct Algorithm {
  uint64_t fingerprint;
  uint64_t workspace;
  std::array<uint32_t, 4> alignments;
  bool rounds_halves;
};
static_assert(sizeof(Algorithm) <= sizeof(cublasLtMatmulAlgo_t));

// The emulator's object inside cuBLASLt's opaque descriptor type.
template <class Ours, class Theirs>
Ours& ours(Theirs* theirs) {
  return *reinterpret_cast<Ours*>(theirs);
}
template <class Ours, class Theirs>
const Ours& ours(const Theirs* theirs) {
  return *reinterpret_cast<const Ours*>(theirs);
}

template <class Ours, class Theirs>
cublasStatus_t create(Theirs** theirs, Ours value) {
  *theirs = reinterpret_cast<Theirs*>(new Ours(value));
  return CUBLAS_STATUS_SUCCESS;
}

template <class Ours, class Theirs>
cublasStatus_t destroy(Theirs* theirs) {
  delete reinterpret_cast<Ours*>(theirs);
  return CUBLAS_STATUS_SUCCESS;
}

template <class T>
cublasStatus_t set(T& attribute, const void* value, size_t size) {
  if (value == nullptr || size != sizeof attribute) return CUBLAS_STATUS_INVALID_VALUE;
  std::memcpy(&attribute, value, size);
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t unknown_attribute(const char* of, int attribute) {
  explain(fmt::format("attribute {} of a cublasLt {} is not in the emulator", attribute, of));
  return CUBLAS_STATUS_NOT_SUPPORTED;
}

Matmul problem_of(cublasLtMatmulDesc_t description, cublasLtMatrixLayout_t a,
                  cublasLtMatrixLayout_t b, cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d) {
  return {
      ours<MatmulDescription>(description),
      {ours<MatrixLayout>(a), ours<MatrixLayout>(b), ours<MatrixLayout>(c), ours<MatrixLayout>(d)}};
}

std::complex<double> scale_of(const Matmul& problem, const void* value) {
  switch (problem.description.scale) {
    case CUDA_R_64F:
      return *static_cast<const double*>(value);
    case CUDA_C_64F:
      return *static_cast<const std::complex<double>*>(value);
    case CUDA_C_32F:
      return *static_cast<const std::complex<float>*>(value);
    default:
      return *static_cast<const float*>(value);
  }
}

bool in_bounds(const Gpu& device, const std::byte* memory, size_t size) {
  const auto found = device.arena.find(memory);
  return found && size <= static_cast<size_t>(found->begin + found->size - memory);
}

// Checks that matrices and workspace match the plan.
cublasStatus_t check_memory(const Matmul& problem, const Algorithm& plan, const Gpu& device,
                            const std::array<std::byte*, 4>& matrices, std::byte* workspace,
                            size_t workspace_size) {
  for (size_t i = 0; i < matrices.size(); ++i) {
    if (reinterpret_cast<uintptr_t>(matrices[i]) % plan.alignments[i] != 0) {
      return refused(fmt::format("matrix {} is not aligned to {} bytes, as the preference promised",
                                 "ABCD"[i], plan.alignments[i]));
    }
    const MatrixLayout& layout = problem.layouts[i];
    if (layout.batches > 1 &&
        layout.stride * static_cast<int64_t>(layout.element_size()) % plan.alignments[i] != 0) {
      return refused(
          fmt::format("the members of {} are not aligned to {} bytes, as the preference "
                      "promised",
                      "ABCD"[i], plan.alignments[i]));
    }
    if (!in_bounds(device, matrices[i], problem.layouts[i].extent())) {
      return refused(fmt::format("matrix {} of {} bytes is not within one allocation of GPU {}",
                                 "ABCD"[i], problem.layouts[i].extent(), device.index));
    }
  }
  if (workspace_size < plan.workspace) {
    return refused(fmt::format("the algorithm takes {} bytes of workspace, not {}", plan.workspace,
                               workspace_size));
  }
  if (workspace_size == 0) return CUBLAS_STATUS_SUCCESS;
  if (reinterpret_cast<uintptr_t>(workspace) % kWorkspaceAlignment != 0) {
    return refused("the workspace is not aligned to 16 bytes");
  }
  return in_bounds(device, workspace, workspace_size)
             ? CUBLAS_STATUS_SUCCESS
             : refused("the workspace is not within one allocation of the GPU");
}

}  // namespace
}  // namespace cuda_on_cpu

using namespace cuda_on_cpu;

cublasStatus_t cublasLtCreate(cublasLtHandle_t* handle) {
  *handle = nullptr;
  if (state_of_runtime() != cudaSuccess) return CUBLAS_STATUS_NOT_INITIALIZED;
  *handle = new cublasLtContext{current_device()};
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtDestroy(cublasLtHandle_t handle) {
  delete handle;
  return CUBLAS_STATUS_SUCCESS;
}

size_t cublasLtGetVersion() { return CUBLAS_VERSION; }
size_t cublasLtGetCudartVersion() { return CUDART_VERSION; }

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* layout, cudaDataType type,
                                          uint64_t rows, uint64_t columns, int64_t ld) {
  return create(layout, MatrixLayout{.type = type, .rows = rows, .columns = columns, .ld = ld});
}

cublasStatus_t cublasLtMatrixLayoutDestroy(cublasLtMatrixLayout_t layout) {
  return destroy<MatrixLayout>(layout);
}

cublasStatus_t cublasLtMatrixLayoutSetAttribute(cublasLtMatrixLayout_t layout,
                                                cublasLtMatrixLayoutAttribute_t attribute,
                                                const void* value, size_t size) {
  MatrixLayout& own = ours<MatrixLayout>(layout);
  switch (attribute) {
    case CUBLASLT_MATRIX_LAYOUT_ORDER:
      return set(own.order, value, size);
    case CUBLASLT_MATRIX_LAYOUT_ROWS:
      return set(own.rows, value, size);
    case CUBLASLT_MATRIX_LAYOUT_COLS:
      return set(own.columns, value, size);
    case CUBLASLT_MATRIX_LAYOUT_LD:
      return set(own.ld, value, size);
    case CUBLASLT_MATRIX_LAYOUT_BATCH_COUNT:
      return set(own.batches, value, size);
    case CUBLASLT_MATRIX_LAYOUT_STRIDED_BATCH_OFFSET:
      return set(own.stride, value, size);
    default:
      return unknown_attribute("matrix layout", attribute);
  }
}

cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* description,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
  return create(description, MatmulDescription{.compute = compute, .scale = scale});
}

cublasStatus_t cublasLtMatmulDescDestroy(cublasLtMatmulDesc_t description) {
  return destroy<MatmulDescription>(description);
}

cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t description,
                                              cublasLtMatmulDescAttributes_t attribute,
                                              const void* value, size_t size) {
  MatmulDescription& own = ours<MatmulDescription>(description);
  switch (attribute) {
    case CUBLASLT_MATMUL_DESC_POINTER_MODE:
      return set(own.pointer_mode, value, size);
    case CUBLASLT_MATMUL_DESC_TRANSA:
    case CUBLASLT_MATMUL_DESC_TRANSB:
    case CUBLASLT_MATMUL_DESC_TRANSC:
      return set(own.transposed[attribute - CUBLASLT_MATMUL_DESC_TRANSA], value, size);
    case CUBLASLT_MATMUL_DESC_EPILOGUE:
      return set(own.epilogue, value, size);
    default:
      return unknown_attribute("matmul descriptor", attribute);
  }
}

cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* preference) {
  return create(preference, MatmulPreference{});
}

cublasStatus_t cublasLtMatmulPreferenceDestroy(cublasLtMatmulPreference_t preference) {
  return destroy<MatmulPreference>(preference);
}

cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t preference,
                                                    cublasLtMatmulPreferenceAttributes_t attribute,
                                                    const void* value, size_t size) {
  MatmulPreference& own = ours<MatmulPreference>(preference);
  switch (attribute) {
    case CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES:
      return set(own.workspace, value, size);
    case CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK:
      return set(own.reductions, value, size);
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES:
    case CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES:
      return set(own.alignments[attribute - CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES], value,
                 size);
    default:
      return unknown_attribute("matmul preference", attribute);
  }
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(cublasLtHandle_t handle,
                                              cublasLtMatmulDesc_t description,
                                              cublasLtMatrixLayout_t a, cublasLtMatrixLayout_t b,
                                              cublasLtMatrixLayout_t c, cublasLtMatrixLayout_t d,
                                              cublasLtMatmulPreference_t preference, int requested,
                                              cublasLtMatmulHeuristicResult_t* results,
                                              int* found) {
  *found = 0;
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (requested < 1) return CUBLAS_STATUS_INVALID_VALUE;
  const Matmul problem = problem_of(description, a, b, c, d);
  const cublasStatus_t checked = problem.check();
  if (checked != CUBLAS_STATUS_SUCCESS) return checked;
  const MatmulPreference& own = ours<MatmulPreference>(preference);
  for (size_t i = 0; i < own.alignments.size(); ++i) {
    if (own.alignments[i] % problem.layouts[i].element_size() != 0) {
      return refused("a preference promises less alignment than an element has");
    }
  }
  constexpr uint32_t kRounding =
      CUBLASLT_REDUCTION_SCHEME_INPLACE | CUBLASLT_REDUCTION_SCHEME_OUTPUT_TYPE;
  const Algorithm plan{problem.fingerprint(), std::min(own.workspace, kWorkspace), own.alignments,
                       (own.reductions & kRounding) != 0};
  results[0] = {};
  std::memcpy(&results[0].algo, &plan, sizeof plan);
  results[0].workspaceSize = plan.workspace;
  results[0].state = CUBLAS_STATUS_SUCCESS;
  results[0].wavesCount = 1;
  *found = 1;
  return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmul(cublasLtHandle_t handle, cublasLtMatmulDesc_t description,
                              const void* alpha, const void* a, cublasLtMatrixLayout_t a_layout,
                              const void* b, cublasLtMatrixLayout_t b_layout, const void* beta,
                              const void* c, cublasLtMatrixLayout_t c_layout, void* d,
                              cublasLtMatrixLayout_t d_layout, const cublasLtMatmulAlgo_t* algo,
                              void* workspace, size_t workspace_size, cudaStream_t stream) {
  if (handle == nullptr) return CUBLAS_STATUS_NOT_INITIALIZED;
  if (check_stream(stream) != cudaSuccess) return CUBLAS_STATUS_INVALID_VALUE;
  if (state_of_runtime() != cudaSuccess) return CUBLAS_STATUS_EXECUTION_FAILED;
  if (stream->device != handle->device || stream->device != current_device()) {
    return refused(fmt::format("stream of GPU {}, handle of GPU {}, current GPU {}", stream->device,
                               handle->device, current_device()));
  }
  const Matmul problem = problem_of(description, a_layout, b_layout, c_layout, d_layout);
  const cublasStatus_t checked = problem.check();
  if (checked != CUBLAS_STATUS_SUCCESS) return checked;
  // Without an algorithm cuBLASLt chooses one in the call.
  Algorithm plan{problem.fingerprint(), 0, {1, 1, 1, 1}, true};
  if (algo != nullptr) std::memcpy(&plan, algo, sizeof plan);
  if (plan.fingerprint != problem.fingerprint()) {
    return refused("the algorithm was chosen for another problem");
  }
  const auto bytes = [](const void* matrix) {
    return static_cast<std::byte*>(const_cast<void*>(matrix));
  };
  const std::array<std::byte*, 4> matrices{bytes(a), bytes(b), bytes(c), bytes(d)};
  const cublasStatus_t placed =
      check_memory(problem, plan, gpu(handle->device), matrices, bytes(workspace), workspace_size);
  if (placed != CUBLAS_STATUS_SUCCESS) return placed;
  const cudaError_t queued =
      enqueue(stream, {.name = "cublasLtMatmul",
                       .run =
                           [=, alpha = scale_of(problem, alpha), beta = scale_of(problem, beta)] {
                             // Overwrites the workspace with NaN, so that sharing it is detected.
                             if (plan.workspace > 0)
                               std::memset(workspace, kNaNByte, plan.workspace);
                             multiply(problem, plan.rounds_halves, alpha, beta, matrices);
                           },
                       .devices = {handle->device}});
  return queued == cudaSuccess ? CUBLAS_STATUS_SUCCESS : CUBLAS_STATUS_EXECUTION_FAILED;
}

const char* cublasLtGetStatusName(cublasStatus_t status) {
  switch (status) {
    case CUBLAS_STATUS_SUCCESS:
      return "CUBLAS_STATUS_SUCCESS";
    case CUBLAS_STATUS_NOT_INITIALIZED:
      return "CUBLAS_STATUS_NOT_INITIALIZED";
    case CUBLAS_STATUS_ALLOC_FAILED:
      return "CUBLAS_STATUS_ALLOC_FAILED";
    case CUBLAS_STATUS_INVALID_VALUE:
      return "CUBLAS_STATUS_INVALID_VALUE";
    case CUBLAS_STATUS_ARCH_MISMATCH:
      return "CUBLAS_STATUS_ARCH_MISMATCH";
    case CUBLAS_STATUS_MAPPING_ERROR:
      return "CUBLAS_STATUS_MAPPING_ERROR";
    case CUBLAS_STATUS_EXECUTION_FAILED:
      return "CUBLAS_STATUS_EXECUTION_FAILED";
    case CUBLAS_STATUS_INTERNAL_ERROR:
      return "CUBLAS_STATUS_INTERNAL_ERROR";
    case CUBLAS_STATUS_NOT_SUPPORTED:
      return "CUBLAS_STATUS_NOT_SUPPORTED";
    case CUBLAS_STATUS_LICENSE_ERROR:
      return "CUBLAS_STATUS_LICENSE_ERROR";
  }
  return "CUBLAS_STATUS_UNKNOWN";
}

const char* cublasLtGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }
const char* cublasGetStatusName(cublasStatus_t status) { return cublasLtGetStatusName(status); }
const char* cublasGetStatusString(cublasStatus_t status) { return cublasLtGetStatusName(status); }
