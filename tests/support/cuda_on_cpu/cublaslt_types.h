// What stands behind cuBLASLt's descriptors in the twin, and when they fit together.
#pragma once

#include <cublasLt.h>

#include <array>
#include <complex>
#include <cstdint>

namespace cuda_on_cpu {

/// A column of a matrix is `ld` elements behind the one before it.
struct MatrixLayout {
  cudaDataType type;
  uint64_t rows;
  uint64_t columns;
  int64_t ld;
  int32_t order = CUBLASLT_ORDER_COL;
  int32_t batches = 1;
  int64_t stride = 0;  // from one matrix of the batch to the next

  size_t element_size() const;
  /// Bytes from the first to behind the last element of all batches.
  size_t extent() const;
};

struct MatmulDescription {
  cublasComputeType_t compute;
  cudaDataType scale;
  int32_t pointer_mode = CUBLASLT_POINTER_MODE_HOST;
  std::array<int32_t, 3> transposed{CUBLAS_OP_N, CUBLAS_OP_N, CUBLAS_OP_N};  // A, B, C
  uint32_t epilogue = CUBLASLT_EPILOGUE_DEFAULT;
};

struct MatmulPreference {
  uint64_t workspace = 0;
  uint32_t reductions = CUBLASLT_REDUCTION_SCHEME_MASK;
  std::array<uint32_t, 4> alignments{256, 256, 256, 256};  // A, B, C, D
};

/// d = alpha op(a) op(b) + beta c.
struct Matmul {
  MatmulDescription description;
  std::array<MatrixLayout, 4> layouts;  // A, B, C, D

  uint64_t depth() const;
  /// Success, or why it is refused, which is also said on stderr.
  cublasStatus_t check() const;
  /// The same for the same problem, and hardly ever for another.
  uint64_t fingerprint() const;
};

/// All on the host, for the thread that runs the stream. `rounds_halves`: the sums of the first
/// half of the terms are rounded to the output's type before those of the second are added.
void multiply(const Matmul& problem, bool rounds_halves, std::complex<double> alpha,
              std::complex<double> beta, const std::array<std::byte*, 4>& matrices);

}  // namespace cuda_on_cpu
