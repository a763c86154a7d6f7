// Shapes of ops on matrix diagonals.
#include "phi/infermeta/diagonal.h"

#include <algorithm>
#include <cstdlib>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

struct Axes {
  int rows;
  int columns;
};

// Errors: InvalidArgument if the two axes are the same tensor dim.
Axes matrix_axes(const Dims& dims, int axis1, int axis2, const char* name1, const char* name2) {
  const Axes axes{normalise_axis(axis1, dims.ndim(), dims, name1),
                  normalise_axis(axis2, dims.ndim(), dims, name2)};
  PHI_CHECK(axes.rows != axes.columns,
            errors::InvalidArgument("{} and {} both name tensor dim {} of {}; name the rows and "
                                    "the columns.",
                                    name1, name2, axes.rows, dims.to_string()));
  return axes;
}

Dims diagonal_dims(const Dims& dims, const Axes& axes, int64_t offset) {
  Dims out;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (d != axes.rows && d != axes.columns) out.push_back(dims[d]);
  }
  out.push_back(diagonal_length(dims[axes.rows], dims[axes.columns], offset));
  return out;
}

}  // namespace

int64_t diagonal_length(int64_t rows, int64_t columns, int64_t offset) {
  if (rows == kUnknownDim || columns == kUnknownDim) return kUnknownDim;
  const int64_t above = std::clamp<int64_t>(offset, 0, columns);
  const int64_t below = std::clamp<int64_t>(-std::max(offset, -rows), 0, rows);
  return std::min(rows - below, columns - above);
}

TensorMeta DiagInferMeta(const TensorMeta& x, int offset, float padding_value) {
  const int ndim = x.dims.ndim();
  PHI_CHECK(ndim <= 2, errors::InvalidArgument("x is {}, but diag expects a vector or a matrix; "
                                               "use diag_embed or diagonal for more tensor dims.",
                                               x.to_string()));
  check_held(padding_value, x.dtype, "padding_value");
  if (ndim == 2) {
    return {{diagonal_length(x.dims[0], x.dims[1], offset)}, x.dtype, x.layout};
  }
  const int64_t elements = ndim == 0 ? 1 : x.dims[0];
  const int64_t side = extent_plus(elements, std::abs(int64_t{offset}));
  return {{side, side}, x.dtype, x.layout};
}

TensorMeta DiagonalInferMeta(const TensorMeta& x, int offset, int axis1, int axis2) {
  PHI_CHECK(x.dims.ndim() >= 2,
            errors::InvalidArgument("x is {}, but a diagonal needs at least 2 tensor dims.",
                                    x.to_string()));
  const Axes axes = matrix_axes(x.dims, axis1, axis2, "axis1", "axis2");
  return {diagonal_dims(x.dims, axes, offset), x.dtype, x.layout};
}

TensorMeta DiagEmbedInferMeta(const TensorMeta& input, int offset, int dim1, int dim2) {
  const int ndim = input.dims.ndim();
  PHI_CHECK(ndim >= 1, errors::InvalidArgument("input is {}, but its last tensor dim becomes a "
                                               "diagonal; reshape it to at least 1 tensor dim.",
                                               input.to_string()));
  Dims wide = input.dims;
  const int64_t elements = input.dims.back();
  wide.push_back(1);
  const Axes axes = matrix_axes(wide, dim1, dim2, "dim1", "dim2");
  const int64_t side = extent_plus(elements, std::abs(int64_t{offset}));
  Dims out;
  for (int d = 0, from = 0; d <= ndim; ++d) {
    out.push_back(d == axes.rows || d == axes.columns ? side : input.dims[from++]);
  }
  return {out, input.dtype, input.layout};
}

TensorMeta FillDiagonalInferMeta(const TensorMeta& x, float value) {
  check_held(value, x.dtype, "value");
  const Dims& dims = x.dims;
  const bool even = std::all_of(dims.begin(), dims.end(), [&](int64_t n) { return n == dims[0]; });
  PHI_CHECK(dims.ndim() == 2 || (dims.ndim() > 2 && even),
            errors::InvalidArgument("x is {}, but it must be a matrix, or have more tensor dims of "
                                    "one extent.",
                                    x.to_string()));
  return x;
}

TensorMeta FillDiagonalTensorInferMeta(const TensorMeta& x, const TensorMeta& y, int64_t offset,
                                       int dim1, int dim2) {
  PHI_CHECK(x.dims.ndim() >= 2,
            errors::InvalidArgument("x is {}, but a diagonal to fill needs at least 2 tensor dims.",
                                    x.to_string()));
  const Axes axes = matrix_axes(x.dims, dim1, dim2, "dim1", "dim2");
  const Dims diagonal = diagonal_dims(x.dims, axes, offset);
  PHI_CHECK(y.dtype == x.dtype && (y.dims == diagonal || !x.dims.known() || !y.dims.known()),
            errors::InvalidArgument(
                "y is {}, but the diagonal {} of x {} has shape {}; pass y that, in x's dtype.",
                y.to_string(), offset, x.to_string(), diagonal.to_string()));
  return x;
}

}  // namespace phi
