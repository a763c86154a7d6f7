// Shapes and dtypes of losses other than cross entropy.
#include "phi/infermeta/losses.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

[[noreturn]] void throw_bad_reduction(const std::string& reduction, std::string_view accepted) {
  throw errors::InvalidArgument("reduction is '{}'; use {}.", reduction, accepted);
}

}  // namespace

TensorMeta ElementwiseLossInferMeta(const TensorMeta& input, const TensorMeta& label) {
  PHI_CHECK(input.dims == label.dims && input.dtype == label.dtype,
            errors::InvalidArgument("the input is {} and the label is {}: they must have one shape "
                                    "and dtype; reshape or cast the label.",
                                    input.to_string(), label.to_string()));
  return input;
}

TensorMeta ColumnLossInferMeta(const TensorMeta& input, const TensorMeta& label) {
  PHI_CHECK(input.dims.ndim() == 2 && input.dims[1] == 1,
            errors::InvalidArgument("the input is {}, but it must be a column [N, 1]; reshape it.",
                                    input.to_string()));
  return ElementwiseLossInferMeta(input, label);
}

TensorMeta SigmoidCrossEntropyWithLogitsInferMeta(const TensorMeta& x, const TensorMeta& label,
                                                  const TensorMeta* pos_weight) {
  const TensorMeta out = ElementwiseLossInferMeta(x, label);
  if (!pos_weight) return out;
  PHI_CHECK(pos_weight->dtype == x.dtype &&
                broadcast_dims(x.dims, pos_weight->dims, "x", "pos_weight") == x.dims,
            errors::InvalidArgument("pos_weight is {} and x is {}: pos_weight must be of x's dtype "
                                    "and broadcast to x's shape.",
                                    pos_weight->to_string(), x.to_string()));
  return out;
}

TensorMeta KLDivInferMeta(const TensorMeta& x, const TensorMeta& label,
                          const std::string& reduction) {
  TensorMeta out = ElementwiseLossInferMeta(x, label);
  if (reduction == "none") return out;
  if (reduction != "mean" && reduction != "sum" && reduction != "batchmean")
    throw_bad_reduction(reduction, "'none', 'mean', 'sum' or 'batchmean'");
  out.dims = Dims();
  return out;
}

std::tuple<TensorMeta, TensorMeta> NllLossInferMeta(const TensorMeta& input,
                                                    const TensorMeta& label,
                                                    const TensorMeta* weight,
                                                    const std::string& reduction) {
  const Dims& dims = input.dims;
  PHI_CHECK(dims.ndim() >= 2,
            errors::InvalidArgument("input is {}, but it must be [N, C, ...] with the classes on "
                                    "tensor dim 1; reshape it.",
                                    input.to_string()));
  Dims samples;
  for (int d = 0; d < dims.ndim(); ++d) {
    if (d != 1) samples.push_back(dims[d]);
  }
  PHI_CHECK(
      label.dims == samples && (label.dtype == DataType::INT64 || label.dtype == DataType::INT32),
      errors::InvalidArgument("label is {} and input is {}: label must be int32 or int64 of "
                              "shape {}; reshape or cast it.",
                              label.to_string(), input.to_string(), samples.to_string()));
  PHI_CHECK(!weight || (weight->dims == Dims{dims[1]} && weight->dtype == input.dtype),
            errors::InvalidArgument("weight is {} and input is {}: weight must have an element of "
                                    "input's dtype for each of the {} classes.",
                                    weight->to_string(), input.to_string(), dims[1]));
  if (reduction != "none" && reduction != "mean" && reduction != "sum")
    throw_bad_reduction(reduction, "'none', 'mean' or 'sum'");
  const TensorMeta one{Dims(), input.dtype, input.layout};
  return {reduction == "none" ? TensorMeta{samples, input.dtype, input.layout} : one, one};
}

TensorMeta FusedSoftmaxMaskInferMeta(const TensorMeta& x, const TensorMeta& mask) {
  const Dims& d = x.dims;
  const Dims& m = mask.dims;
  const bool fits =
      d.ndim() == 4 && m.ndim() == 4 && m[0] == d[0] && m[1] == 1 && m[2] == d[2] && m[3] == d[3];
  PHI_CHECK(fits && x.dtype == mask.dtype,
            errors::InvalidArgument("x is {} and mask is {}: x must be [N, heads, rows, columns], "
                                    "and mask [N, 1, rows, columns] of the same dtype.",
                                    x.to_string(), mask.to_string()));
  return x;
}

TensorMeta MarginLogitsInferMeta(const TensorMeta& logits, const TensorMeta& label) {
  PHI_CHECK(logits.dims.ndim() == 2 && is_floating(logits.dtype),
            errors::InvalidArgument("logits is {}, but it must be floats [N, C], cosines.",
                                    logits.to_string()));
  const bool counts = label.dtype == DataType::INT32 || label.dtype == DataType::INT64;
  PHI_CHECK(counts && label.dims == Dims{logits.dims[0]},
            errors::InvalidArgument("label is {} and logits {}: label must be int32 or int64 [{}].",
                                    label.to_string(), logits.to_string(), logits.dims[0]));
  return logits;
}

}  // namespace phi
