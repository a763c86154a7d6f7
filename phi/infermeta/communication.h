// Shapes of ops by which the ranks of a ring send tensors to each other. Each rank has its own:
// that others have tensors of the same shape is told by the messages.
#pragma once

#include "phi/core/attribute.h"
#include "phi/core/meta.h"

namespace phi {

/// nranks times as many rows. Errors: InvalidArgument if nranks is below 1, as in all of these, and
/// for a 0-D x.
TensorMeta AllGatherInferMeta(const TensorMeta& x, int nranks);
/// An nranks-th of the rows.
TensorMeta ReduceScatterInferMeta(const TensorMeta& x, int nranks);
/// As x; its rows go to the ranks of the ring, as many to each.
TensorMeta AllToAllInferMeta(const TensorMeta& x);

/// As x. Errors: InvalidArgument for a type of reduction that is none of Paddle's.
TensorMeta AllReduceInferMeta(const TensorMeta& x, int reduce_type);
/// As out_grad. Errors: Unimplemented for a reduction that is neither a sum nor an average.
TensorMeta LinearReduceGradInferMeta(const TensorMeta& out_grad, int reduce_type);

/// [0]. Errors: Unimplemented if the message shall have its shape with it, as in p_recv.
TensorMeta SendInferMeta(const TensorMeta& x, bool dynamic_shape);
TensorMeta RecvInferMeta(DataType dtype, bool dynamic_shape, const IntArray& out_shape);

// On which stream they run, and for which parallelism, means nothing here.
TensorMeta CIdentityInferMeta(const TensorMeta& x, bool use_calc_stream, bool use_model_parallel);
/// An nranks-th of the last extent. Errors: InvalidArgument unless rank is below nranks.
TensorMeta CSplitInferMeta(const TensorMeta& x, int rank, int nranks, bool use_calc_stream,
                           bool use_model_parallel);
/// nranks times the last extent.
TensorMeta CConcatInferMeta(const TensorMeta& x, int rank, int nranks, bool use_calc_stream,
                            bool use_model_parallel);

}  // namespace phi
