// Shape and dtype inference of matrix products.
//
//   const TensorMeta x{{8, 3, 4}, DataType::FLOAT32}, y{{4, 5}, DataType::FLOAT32};
//   MatmulInferMeta(x, y, false, false).dims == Dims{8, 3, 5};
#pragma once

#include "phi/core/meta.h"

namespace phi {

/// Batched matrix product over the last two tensor dims; leading tensor dims broadcast.
///
/// Shapes   x [*, m, k], y [*, k, n] (before the flags, which swap an argument's last two) gives
///          [*, m, n]. A 1-D x is a row [k] and a 1-D y a column [k]; both flags are ignored for a
///          1-D argument, and its tensor dim is left out of the result (1-D with 1-D gives 0-D).
/// Errors   InvalidArgument for a 0-D argument, dtypes that differ or are not floating, inner
///          extents that differ, batch extents that do not broadcast.
TensorMeta MatmulInferMeta(const TensorMeta& x, const TensorMeta& y, bool transpose_x,
                           bool transpose_y);

}  // namespace phi
