// Matmuls on a GPU, through cuBLASLt.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>

#include "phi/common/dtype.h"

namespace phi::gpu {

class GpuDevice;

/// Shapes of a batched GEMM: c = alpha op(a) op(b) + beta c for each of `batch` members. Matrices
/// are row-major: op(a) is [m, k], op(b) is [k, n], c is [m, n]. A `trans` flag means that the
/// argument is stored transposed. `ld` is the row stride and `step` the stride between members,
/// both in elements.
struct GemmProblem {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1;
  int64_t step_a = 0, step_b = 0, step_c = 0;
  /// Dtype of a and b, floating or complex. Half-precision arguments accumulate in float32.
  DataType dtype = DataType::UNDEFINED;
  /// Dtype of c: `dtype`, or float32 for half-precision arguments, which leaves the sums unrounded.
  DataType out = DataType::UNDEFINED;

  friend auto operator<=>(const GemmProblem&, const GemmProblem&) = default;
};

class GemmRunner {
 public:
  GemmRunner();
  ~GemmRunner();
  GemmRunner(const GemmRunner&) = delete;
  GemmRunner& operator=(const GemmRunner&) = delete;

  /// Queues the GEMM on the device's compute stream. No extent may be 0. If the rank enables TF32
  /// (RankContext::tf32), float32 arguments may be rounded to TF32 (10 bits of mantissa); sums stay
  /// float32. Errors: Unavailable if cuBLASLt cannot be loaded or fails; Unimplemented if it has no
  /// algorithm for these shapes and dtypes.
  void run(GpuDevice& device, const GemmProblem& problem, double alpha, const void* a,
           const void* b, double beta, void* c);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace phi::gpu
