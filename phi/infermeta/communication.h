// Shapes of collective ops among the ranks of a ring. Each rank infers its own shape; messages
// check that shapes agree between ranks.
//
// Errors: InvalidArgument if nranks is below 1, or rank is not below it.
#pragma once

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// x with nranks times as many rows. Errors: InvalidArgument for a 0-D x.
TensorMeta AllGatherInferMeta(const TensorMeta& x, int nranks);
/// x with 1 / nranks of the rows.
TensorMeta ReduceScatterInferMeta(const TensorMeta& x, int nranks);
/// Returns x's meta. Each rank of the ring receives an equal share of the rows.
TensorMeta AllToAllInferMeta(const TensorMeta& x);

/// Returns x's meta. Errors: InvalidArgument if reduce_type is not one of Paddle's.
TensorMeta AllReduceInferMeta(const TensorMeta& x, int reduce_type);
/// Returns out_grad's meta. Errors: Unimplemented unless the reduction is a sum or an average.
TensorMeta LinearReduceGradInferMeta(const TensorMeta& out_grad, int reduce_type);

/// [0]. Errors: Unimplemented if dynamic_shape, which would send the shape with the message.
TensorMeta SendInferMeta(const TensorMeta& x, bool dynamic_shape);
/// `out_shape` of `dtype`. Errors: those of SendInferMeta and CreateInferMeta.
TensorMeta RecvInferMeta(DataType dtype, bool dynamic_shape, const IntArray& out_shape);

// use_calc_stream and use_model_parallel have no effect.
TensorMeta CIdentityInferMeta(const TensorMeta& x, bool use_calc_stream, bool use_model_parallel);
/// x with 1 / nranks of the last extent. Errors: InvalidArgument unless rank is below nranks.
TensorMeta CSplitInferMeta(const TensorMeta& x, int rank, int nranks, bool use_calc_stream,
                           bool use_model_parallel);
/// x with nranks times the last extent.
TensorMeta CConcatInferMeta(const TensorMeta& x, int rank, int nranks, bool use_calc_stream,
                            bool use_model_parallel);

}  // namespace phi
