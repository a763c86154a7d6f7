// A product of square matrices by cuBLASLt alone: what a program calls that has no framework, with
// the plan made before and memory at hand.
#pragma once

#include <cstdint>
#include <memory>

#include "api/tensor/tensor.h"

namespace phi::gpu_bench {

class DirectMatmul {
 public:
  /// Of row-major [n, n] matrices on the GPU of `place`; 16-bit ones are summed in float32.
  /// Errors: Unavailable if cuBLASLt cannot be loaded, or refuses.
  DirectMatmul(const Place& place, DataType dtype, int64_t n);
  ~DirectMatmul();
  DirectMatmul(const DirectMatmul&) = delete;
  DirectMatmul& operator=(const DirectMatmul&) = delete;

  /// c = a b, queued.
  void run(const Tensor& a, const Tensor& b, Tensor& c) const;

 private:
  struct Plan;
  std::unique_ptr<Plan> plan_;
};

}  // namespace phi::gpu_bench
