// Shape and dtype inference of matrix products.
#include "phi/infermeta/matmul.h"

#include <algorithm>

#include "phi/common/errors.h"

namespace phi {
namespace {

void check_arguments(const TensorMeta& x, const TensorMeta& y) {
  PHI_CHECK(x.dims.ndim() > 0 && y.dims.ndim() > 0,
            errors::InvalidArgument("x is {} and y is {}, but both need at least 1 tensor dim; use "
                                    "multiply for a product with a scalar.",
                                    x.to_string(), y.to_string()));
  PHI_CHECK(x.dtype == y.dtype,
            errors::InvalidArgument("x is {} and y is {}, but both need the same dtype; cast one "
                                    "of them.",
                                    x.to_string(), y.to_string()));
  PHI_CHECK(is_floating(x.dtype),
            errors::InvalidArgument("x is {}, but the product is defined for floating dtypes only; "
                                    "cast x and y to one.",
                                    x.to_string()));
}

}  // namespace

TensorMeta MatmulInferMeta(const TensorMeta& x, const TensorMeta& y, bool transpose_x,
                           bool transpose_y) {
  check_arguments(x, y);
  const int x_ndim = x.dims.ndim();
  const int y_ndim = y.dims.ndim();
  // Which of an argument's tensor dims is summed over.
  const int x_inner = x_ndim == 1 || !transpose_x ? x_ndim - 1 : x_ndim - 2;
  const int y_inner = y_ndim == 1 ? 0 : (transpose_y ? y_ndim - 1 : y_ndim - 2);
  PHI_CHECK(x.dims[x_inner] == y.dims[y_inner],
            errors::InvalidArgument(
                "x is {} and y is {} with transpose_x={}, transpose_y={}: the products are summed "
                "over x's tensor dim {} (extent {}) and y's tensor dim {} (extent {}), which must "
                "be equal; transpose or reshape one of them.",
                x.to_string(), y.to_string(), transpose_x, transpose_y, x_inner, x.dims[x_inner],
                y_inner, y.dims[y_inner]));

  const int x_batch = std::max(x_ndim - 2, 0);
  const int y_batch = std::max(y_ndim - 2, 0);
  const int batch = std::max(x_batch, y_batch);
  Dims dims;
  for (int d = 0; d < batch; ++d) {
    const int64_t a = d < batch - x_batch ? 1 : x.dims[d - (batch - x_batch)];
    const int64_t b = d < batch - y_batch ? 1 : y.dims[d - (batch - y_batch)];
    PHI_CHECK(a == b || a == 1 || b == 1,
              errors::InvalidArgument(
                  "x is {} and y is {}: their batch extents {} and {}, counted from the right at "
                  "place {}, must be equal or one of them 1.",
                  x.to_string(), y.to_string(), a, b, batch - d));
    dims.push_back(a == 1 ? b : a);
  }
  if (x_ndim > 1) dims.push_back(x.dims[transpose_x ? x_ndim - 1 : x_ndim - 2]);
  if (y_ndim > 1) dims.push_back(y.dims[transpose_y ? y_ndim - 2 : y_ndim - 1]);
  return {dims, x.dtype, x.layout};
}

}  // namespace phi
