// The matmuls that the emulator accepts. It is stricter than cuBLASLt where this library needs
// less, and cannot know where cuBLASLt is stricter.
#include "support/cuda_on_cpu/cublaslt_types.h"

#include <fmt/format.h>

#include "support/cuda_on_cpu/failure.h"

namespace cuda_on_cpu {
namespace {

constexpr const char* kNames[] = {"A", "B", "C", "D"};
constexpr int32_t kMostBatches = 65535;  // limit of some releases

cublasStatus_t refused(cublasStatus_t status, const std::string& why) {
  explain("cublasLt: " + why);
  return status;
}

bool is_16_bit(cudaDataType type) { return type == CUDA_R_16F || type == CUDA_R_16BF; }

bool types_fit(const Matmul& problem) {
  const auto& [a, b, c, d] = problem.layouts;
  const bool same = a.type == b.type && c.type == d.type;
  const bool result = a.type == d.type || (is_16_bit(a.type) && d.type == CUDA_R_32F);
  const cublasComputeType_t compute = problem.description.compute;
  const cudaDataType scale = problem.description.scale;
  if (!same || !result) return false;
  if (a.type == CUDA_C_64F) return compute == CUBLAS_COMPUTE_64F && scale == CUDA_C_64F;
  if (a.type == CUDA_C_32F) return compute == CUBLAS_COMPUTE_32F && scale == CUDA_C_32F;
  if (a.type == CUDA_R_64F) return compute == CUBLAS_COMPUTE_64F && scale == CUDA_R_64F;
  const bool floats = compute == CUBLAS_COMPUTE_32F || compute == CUBLAS_COMPUTE_32F_PEDANTIC ||
                      (compute == CUBLAS_COMPUTE_32F_FAST_TF32 && a.type == CUDA_R_32F);
  return (a.type == CUDA_R_32F || is_16_bit(a.type)) && floats && scale == CUDA_R_32F;
}

std::string shape_of(const MatrixLayout& layout, bool transposed) {
  return fmt::format("{} x {}{}", layout.rows, layout.columns, transposed ? " transposed" : "");
}

}  // namespace

size_t MatrixLayout::element_size() const {
  if (type == CUDA_C_64F) return 16;
  return type == CUDA_R_64F || type == CUDA_C_32F ? 8 : type == CUDA_R_32F ? 4 : 2;
}

size_t MatrixLayout::extent() const {
  const auto one = (columns - 1) * static_cast<uint64_t>(ld) + rows;
  return (static_cast<uint64_t>(batches - 1) * static_cast<uint64_t>(stride) + one) *
         element_size();
}

uint64_t Matmul::depth() const {
  return description.transposed[0] == CUBLAS_OP_N ? layouts[0].columns : layouts[0].rows;
}

cublasStatus_t Matmul::check() const {
  const auto unsupported = [](const std::string& why) {
    return refused(CUBLAS_STATUS_NOT_SUPPORTED, why);
  };
  const auto invalid = [](const std::string& why) {
    return refused(CUBLAS_STATUS_INVALID_VALUE, why);
  };
  if (description.epilogue != CUBLASLT_EPILOGUE_DEFAULT) return unsupported("an epilogue");
  if (description.pointer_mode != CUBLASLT_POINTER_MODE_HOST) return unsupported("a pointer mode");
  if (description.transposed[2] != CUBLAS_OP_N) return unsupported("C is transposed");
  if (!types_fit(*this)) return unsupported("these types of matrices, sums and scale");
  for (size_t i = 0; i < layouts.size(); ++i) {
    const MatrixLayout& layout = layouts[i];
    if (layout.order != CUBLASLT_ORDER_COL) {
      return unsupported(fmt::format("{} has an order other than CUBLASLT_ORDER_COL", kNames[i]));
    }
    if (layout.rows == 0 || layout.columns == 0)
      return invalid(fmt::format("{} is empty", kNames[i]));
    if (layout.ld < static_cast<int64_t>(layout.rows)) {
      return invalid(fmt::format("{} has {} rows and the leading dimension {}", kNames[i],
                                 layout.rows, layout.ld));
    }
    if (layout.batches > kMostBatches) {
      return unsupported(
          fmt::format("{} has {} batches, more than {}", kNames[i], layout.batches, kMostBatches));
    }
    if (layout.batches != layouts[3].batches || layout.batches < 1) {
      return invalid(
          fmt::format("{} has {} batches, D {}", kNames[i], layout.batches, layouts[3].batches));
    }
  }
  const auto& [a, b, c, d] = layouts;
  const bool ta = description.transposed[0] != CUBLAS_OP_N;
  const bool tb = description.transposed[1] != CUBLAS_OP_N;
  const bool fits = (ta ? a.columns : a.rows) == d.rows && (tb ? b.rows : b.columns) == d.columns &&
                    (tb ? b.columns : b.rows) == depth() && c.rows == d.rows &&
                    c.columns == d.columns;
  if (fits) return CUBLAS_STATUS_SUCCESS;
  return invalid(fmt::format("A {}, B {}, C {} and D {} do not fit", shape_of(a, ta),
                             shape_of(b, tb), shape_of(c, false), shape_of(d, false)));
}

uint64_t Matmul::fingerprint() const {
  uint64_t hash = 14695981039346656037ull;
  const auto add = [&hash](uint64_t value) { hash = (hash ^ value) * 1099511628211ull; };
  add(description.compute);
  for (const int32_t transposed : description.transposed) add(static_cast<uint64_t>(transposed));
  for (const MatrixLayout& layout : layouts) {
    add(layout.type);
    add(layout.rows);
    add(layout.columns);
    add(static_cast<uint64_t>(layout.ld));
    add(static_cast<uint64_t>(layout.batches));
    add(static_cast<uint64_t>(layout.stride));
  }
  return hash;
}

}  // namespace cuda_on_cpu
