// The arrays of matmul as batches of matrices, for the forward call and its gradients.
#pragma once

#include <complex>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/hd.h"
#include "phi/kernels/matmul/gemm_plan.h"
#include "phi/kernels/templates/data_of.h"

namespace phi {

/// The element types of matmuls.
using MatmulTypes = join_t<Floats, Complexes>;

namespace detail {
template <typename C>
struct Conjugate {
  PHI_HD C operator()(C x) const { return conj(x); }
};
}  // namespace detail

/// x if T is real; otherwise a copy with conjugated elements.
template <typename T, typename Context>
DenseTensor conjugated(const Context& ctx, const DenseTensor& x) {
  if constexpr (!kIsComplex<T>) {
    return x;
  } else {
    DenseTensor copy = DenseTensor::empty(x.meta(), ctx.place());
    unary_loop(ctx, data_of<T>(ctx, x), mutable_data_of<T>(ctx, &copy), x.numel(),
               detail::Conjugate<T>());
    return copy;
  }
}

/// out = op(x) op(y), where op(x) is [m, k], op(y) [k, n] and out [m, n]. A 1-D x is a row and a
/// 1-D y a column; their flags are ignored.
struct MatmulOperands {
  MatmulOperands(const Dims& x_dims, const Dims& y_dims, bool transpose_x, bool transpose_y)
      : x{matrices_of(x_dims, VectorIs::kRow), transpose_x && x_dims.ndim() > 1},
        y{matrices_of(y_dims, VectorIs::kColumn), transpose_y && y_dims.ndim() > 1},
        out{.batch = broadcast_batch(x.matrices.batch, y.matrices.batch),
            .rows = x.transposed ? x.matrices.columns : x.matrices.rows,
            .columns = y.transposed ? y.matrices.rows : y.matrices.columns} {}

  GemmOperand x;
  GemmOperand y;
  MatrixBatch out;
};

}  // namespace phi
