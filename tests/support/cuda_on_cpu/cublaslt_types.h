// The objects of cuBLASLt's descriptors in the emulator, and the checks of their consistency.
#pragma once

#include <cublasLt.h>

#include <array>
#include <complex>
#include <cstdint>

namespace cuda_on_cpu {

/// A column-major matrix; `ld` is the column stride in elements.
struct MatrixLayout {
  cudaDataType type;
  uint64_t rows;
  uint64_t columns;
  int64_t ld;
  int32_t order = CUBLASLT_ORDER_COL;
  int32_t batches = 1;
  int64_t stride = 0;  // between matrices of the batch

  size_t element_size() const;
  /// Bytes from the first element to the end of the last one, over all batches.
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

/// One GEMM: d = alpha op(a) op(b) + beta c.
struct Matmul {
  MatmulDescription description;
  std::array<MatrixLayout, 4> layouts;  // A, B, C, D

  uint64_t depth() const;
  /// CUBLAS_STATUS_SUCCESS, or the status of an invalid problem; prints the reason to stderr.
  cublasStatus_t check() const;
  /// A hash of the problem.
  uint64_t fingerprint() const;
};

/// Computes the GEMM on the host, on the thread that runs the stream. If `rounds_halves`, the sums
/// of the first half of the terms are rounded to the output's type before the second half is added.
void multiply(const Matmul& problem, bool rounds_halves, std::complex<double> alpha,
              std::complex<double> beta, const std::array<std::byte*, 4>& matrices);

}  // namespace cuda_on_cpu
