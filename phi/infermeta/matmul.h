// Shape and dtype inference of matmuls, einsum and related products.
//
//   const TensorMeta x{{8, 3, 4}, DataType::FLOAT32}, y{{4, 5}, DataType::FLOAT32};
//   MatmulInferMeta(x, y, false, false).dims == Dims{8, 3, 5};
#pragma once

#include <span>
#include <string>
#include <vector>

#include "phi/core/meta.h"

namespace phi {

/// Batched matmul over the last two tensor dims. Leading tensor dims are broadcast.
///
/// Shapes   [*, m, n] for x [*, m, k] and y [*, k, n]; each flag swaps the last two tensor dims of
///          its argument first. A 1-D x is a row [k] and a 1-D y a column [k]: its flag is ignored
///          and its tensor dim is removed from the result, so two 1-D arguments give a 0-D result.
/// Errors   InvalidArgument for a 0-D argument; for dtypes that differ or are neither floating nor
///          complex; for inner extents that differ; for batch extents that do not broadcast.
TensorMeta MatmulInferMeta(const TensorMeta& x, const TensorMeta& y, bool transpose_x,
                           bool transpose_y);

/// [b, m, n] for x [b, m, k] and y [b, k, n]: a matmul of 3-D arguments without broadcasting.
/// Errors: those of MatmulInferMeta.
TensorMeta BmmInferMeta(const TensorMeta& x, const TensorMeta& y);
/// [m] for x [m, k] and vec [k]. Errors: those of MatmulInferMeta.
TensorMeta MvInferMeta(const TensorMeta& x, const TensorMeta& vec);

/// [m, n] for x [m, k], y [k, n] and a 1-D or 2-D input that broadcasts to [m, n]. Errors:
/// InvalidArgument for other shapes or dtypes that differ.
TensorMeta AddmmInferMeta(const TensorMeta& input, const TensorMeta& x, const TensorMeta& y);

/// 0-D for x and y of shape [k]; [b] for [b, k]. Errors: InvalidArgument for other shapes, dtypes
/// that differ, and bool.
TensorMeta DotInferMeta(const TensorMeta& x, const TensorMeta& y);

/// The output of an equation (phi/common/equation.h). Errors: InvalidArgument for an invalid
/// equation or one with dots, tensors that do not match its terms, different extents of one letter,
/// and dtypes that differ or are neither floating nor complex.
TensorMeta EinsumInferMeta(std::span<const TensorMeta> x, const std::string& equation);

/// [m, n] for a chain of at least two matrices [m, k] [k, l] .. [.., n]. The first may be a row [k]
/// and the last a column [l]; its tensor dim is then removed from the result. Errors:
/// InvalidArgument for fewer matrices, other numbers of tensor dims, inner extents that differ, and
/// dtypes as in MatmulInferMeta.
TensorMeta MultiDotInferMeta(std::span<const TensorMeta> x);

/// Gradients of a list: each has the meta of its tensor.
std::vector<TensorMeta> UnchangedMultiInferMeta(std::span<const TensorMeta> x);

}  // namespace phi
