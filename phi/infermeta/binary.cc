// Shapes and dtypes of elementwise ops of two and three inputs beyond plain arithmetic.
#include "phi/infermeta/binary.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/elementwise.h"

namespace phi {

TensorMeta DivideInferMeta(const TensorMeta& x, const TensorMeta& y) {
  TensorMeta out = ElementwiseInferMeta(x, y);
  if (is_integral(out.dtype)) out.dtype = DataType::FLOAT32;
  return out;
}

TensorMeta SameDimsInferMeta(const TensorMeta& x, const TensorMeta& y) {
  PHI_CHECK(x.dims == y.dims && x.dtype == y.dtype,
            errors::InvalidArgument("x is {} and y is {}: they must have one shape and dtype, this "
                                    "op does not broadcast; expand or cast them.",
                                    x.to_string(), y.to_string()));
  return x;
}

TensorMeta Atan2InferMeta(const TensorMeta& x, const TensorMeta& y) {
  TensorMeta out = SameDimsInferMeta(x, y);
  if (is_integral(out.dtype)) out.dtype = DataType::FLOAT64;
  return out;
}

TensorMeta IsCloseInferMeta(const TensorMeta& x, const TensorMeta& y) {
  return CastInferMeta(SameDimsInferMeta(x, y), DataType::BOOL);
}

TensorMeta AllCloseInferMeta(const TensorMeta& x, const TensorMeta& y) {
  return {Dims(), DataType::BOOL, IsCloseInferMeta(x, y).layout};
}

TensorMeta EqualAllInferMeta(const TensorMeta& x, const TensorMeta& y) {
  PHI_CHECK(x.dtype == y.dtype,
            errors::InvalidArgument("x is {} and y is {}: values of two dtypes are not compared; "
                                    "cast one of them.",
                                    x.to_string(), y.to_string()));
  return {Dims(), DataType::BOOL, x.layout};
}

TensorMeta LerpInferMeta(const TensorMeta& x, const TensorMeta& y, const TensorMeta& weight) {
  const TensorMeta ends = ElementwiseInferMeta(x, y);
  PHI_CHECK(weight.dtype == x.dtype,
            errors::InvalidArgument("weight is {} and x is {}: their dtypes differ; cast one.",
                                    weight.to_string(), x.to_string()));
  return {broadcast_dims(ends.dims, weight.dims, "x with y", "weight"), x.dtype, x.layout};
}

}  // namespace phi
