// The three arrays of matmul as batches of matrices, for the product and its gradients.
#pragma once

#include <memory>

#include "phi/common/dtype.h"
#include "phi/core/dense_tensor.h"
#include "phi/kernels/cpu/matmul/batched_product.h"

namespace phi {

/// The element types of products.
using ProductTypes = join_t<Floats, Complexes>;

/// The elements of x, conjugated in a copy where they are complex.
template <typename T>
class Conjugated {
 public:
  explicit Conjugated(const DenseTensor& x) : data_(x.data<T>()) {
    if constexpr (kIsComplex<T>) {
      copy_ = std::make_unique_for_overwrite<T[]>(static_cast<size_t>(x.numel()));
      for (int64_t i = 0; i < x.numel(); ++i) copy_[i] = std::conj(data_[i]);
      data_ = copy_.get();
    }
  }
  const T* data() const { return data_; }

 private:
  const T* data_;
  std::unique_ptr<T[]> copy_;
};

/// out = op(x) op(y): op(x) is [m, k], op(y) [k, n], out [m, n]. Flags of 1-D arguments count for
/// nothing: x is then a row and y a column.
struct MatmulOperands {
  MatmulOperands(const Dims& x_dims, const Dims& y_dims, bool transpose_x, bool transpose_y)
      : x{matrices_of(x_dims, VectorIs::kRow), transpose_x && x_dims.ndim() > 1},
        y{matrices_of(y_dims, VectorIs::kColumn), transpose_y && y_dims.ndim() > 1},
        out{.batch = broadcast_batch(x.matrices.batch, y.matrices.batch),
            .rows = x.transposed ? x.matrices.columns : x.matrices.rows,
            .columns = y.transposed ? y.matrices.rows : y.matrices.columns} {}

  ProductOperand x;
  ProductOperand y;
  MatrixBatch out;
};

}  // namespace phi
