// Matrix products on a GPU, by cuBLASLt.
#pragma once

#include <compare>
#include <cstdint>
#include <memory>

#include "phi/common/dtype.h"

namespace phi::gpu {

class GpuDevice;

/// c = alpha op(a) op(b) + beta c for each of `batch` members, row-major: op(a) is [m, k], op(b)
/// [k, n], c [m, n]; a flag says that the argument is stored transposed. `ld`: elements from one
/// stored row to the next; `step`: from one member to the next.
struct Product {
  int64_t m = 0, n = 0, k = 0;
  bool trans_a = false, trans_b = false;
  int64_t lda = 0, ldb = 0, ldc = 0;
  int64_t batch = 1;
  int64_t step_a = 0, step_b = 0, step_c = 0;
  /// Of a and b: a floating or complex one. Sums of 16-bit floats are kept in float32.
  DataType dtype = DataType::UNDEFINED;
  /// Of c: dtype, or float32 for 16-bit arguments, whose sums are then not rounded.
  DataType out = DataType::UNDEFINED;

  friend auto operator<=>(const Product&, const Product&) = default;
};

class Products {
 public:
  Products();
  ~Products();
  Products(const Products&) = delete;
  Products& operator=(const Products&) = delete;

  /// Queued on the compute stream of the device. No extent is 0. Where the rank asks for TF32
  /// (RankContext::tf32), a and b of float32 may be rounded to it, 10 bits behind the point; sums
  /// stay float32. Errors: Unavailable if cuBLASLt cannot be loaded, or fails; Unimplemented if it
  /// has no way for such a product.
  void run(GpuDevice& device, const Product& product, double alpha, const void* a, const void* b,
           double beta, void* c);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace phi::gpu
