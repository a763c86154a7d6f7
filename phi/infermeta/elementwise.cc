// Shapes and dtypes of elementwise ops.
#include "phi/infermeta/elementwise.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

void check_elementwise_dtypes(const TensorMeta& x, const TensorMeta& y) {
  PHI_CHECK(x.dtype == y.dtype,
            errors::InvalidArgument("x is {} and y is {}: their dtypes differ; cast one of them.",
                                    x.to_string(), y.to_string()));
}

}  // namespace

TensorMeta ElementwiseInferMeta(const TensorMeta& x, const TensorMeta& y) {
  check_elementwise_dtypes(x, y);
  return {broadcast_dims(x.dims, y.dims), x.dtype, x.layout};
}

TensorMeta CompareInferMeta(const TensorMeta& x, const TensorMeta& y) {
  return CastInferMeta(ElementwiseInferMeta(x, y), DataType::BOOL);
}

TensorMeta CastInferMeta(const TensorMeta& x, DataType dtype) {
  PHI_CHECK(dtype != DataType::UNDEFINED,
            errors::InvalidArgument("dtype is undefined for x {}; pass the dtype to cast to.",
                                    x.to_string()));
  return {x.dims, dtype, x.layout};
}

TensorMeta FullLikeInferMeta(const TensorMeta& x, const Scalar& value, DataType dtype) {
  const TensorMeta out{x.dims, dtype == DataType::UNDEFINED ? x.dtype : dtype, x.layout};
  check_held(value, out.dtype, "value");
  return out;
}

TensorMeta WhereInferMeta(const TensorMeta& condition, const TensorMeta& x, const TensorMeta& y) {
  PHI_CHECK(condition.dtype == DataType::BOOL,
            errors::InvalidArgument("condition is {}, but it must be bool; cast it.",
                                    condition.to_string()));
  check_elementwise_dtypes(x, y);
  const Dims values = broadcast_dims(x.dims, y.dims);
  return {broadcast_dims(condition.dims, values, "condition", "x with y"), x.dtype, x.layout};
}

TensorMeta AddNInferMeta(std::span<const TensorMeta> inputs) {
  PHI_CHECK(!inputs.empty(),
            errors::InvalidArgument("inputs is an empty list; pass at least one tensor."));
  for (size_t i = 1; i < inputs.size(); ++i) {
    PHI_CHECK(inputs[i].dims == inputs[0].dims && inputs[i].dtype == inputs[0].dtype,
              errors::InvalidArgument("inputs[0] is {} and inputs[{}] is {}: all inputs must have "
                                      "one shape and dtype; expand or cast them.",
                                      inputs[0].to_string(), i, inputs[i].to_string()));
  }
  return inputs[0];
}

}  // namespace phi
