// Shape and dtype inference of matrix products.
//
//   const TensorMeta x{{8, 3, 4}, DataType::FLOAT32}, y{{4, 5}, DataType::FLOAT32};
//   MatmulInferMeta(x, y, false, false).dims == Dims{8, 3, 5};
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Batched matrix product over the last two tensor dims; leading tensor dims broadcast.
///
/// Shapes   x [*, m, k], y [*, k, n] (before the flags, which swap an argument's last two) gives
///          [*, m, n]. A 1-D x is a row [k] and a 1-D y a column [k]; both flags are ignored for a
///          1-D argument, and its tensor dim is left out of the result (1-D with 1-D gives 0-D).
/// Errors   InvalidArgument for a 0-D argument, dtypes that differ or are neither floating nor
/// complex, inner
///          extents that differ, batch extents that do not broadcast.
TensorMeta MatmulInferMeta(const TensorMeta& x, const TensorMeta& y, bool transpose_x,
                           bool transpose_y);

/// x [b, m, k] and y [b, k, n] give [b, m, n]: as matmul, of three tensor dims each and without
/// broadcasting. Errors: those of matmul.
TensorMeta BmmInferMeta(const TensorMeta& x, const TensorMeta& y);
/// x [m, k] and vec [k] give [m]. Errors: as above.
TensorMeta MvInferMeta(const TensorMeta& x, const TensorMeta& vec);

/// x [m, k], y [k, n] and an input of one or two tensor dims that broadcasts to [m, n], which it
/// gives. Errors: InvalidArgument for other shapes, and dtypes that differ.
TensorMeta AddmmInferMeta(const TensorMeta& input, const TensorMeta& x, const TensorMeta& y);

/// x and y of one shape, [k] or [b, k], give [] or [b]. Errors: InvalidArgument for other shapes,
/// dtypes that differ, and bool.
TensorMeta DotInferMeta(const TensorMeta& x, const TensorMeta& y);

/// The output of an equation (phi/common/equation.h). Errors: InvalidArgument for what is no
/// equation or has dots, for tensors that do not fit its terms, extents of a letter that differ,
/// and dtypes that differ or are neither floating nor complex.
TensorMeta EinsumInferMeta(std::span<const TensorMeta> x, const std::string& equation);

/// The product of two matrices or more [m, k] [k, l] .. [.., n]: [m, n]. The first may be a row [k]
/// and the last a column [l], whose tensor dim is then left out. Errors: InvalidArgument for fewer,
/// other numbers of tensor dims, inner extents that differ, and dtypes as above.
TensorMeta MultiDotInferMeta(std::span<const TensorMeta> x);

/// The gradients of a list: as its tensors.
std::vector<TensorMeta> UnchangedMultiInferMeta(std::span<const TensorMeta> x);

}  // namespace phi
