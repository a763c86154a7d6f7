// Shape and dtype inference of softmax with cross entropy.
#include "phi/infermeta/cross_entropy.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

void check_soft_label(const TensorMeta& input, const TensorMeta& label) {
  PHI_CHECK(label.dims == input.dims && label.dtype == input.dtype,
            errors::InvalidArgument("label is {} and input is {}: with soft_label=true they must "
                                    "have the same shape and dtype.",
                                    label.to_string(), input.to_string()));
}

void check_hard_label(const TensorMeta& input, const TensorMeta& label, int at) {
  PHI_CHECK(label.dtype == DataType::INT32 || label.dtype == DataType::INT64,
            errors::InvalidArgument("label is {}, but with soft_label=false it must be int32 or "
                                    "int64; cast it, or pass soft_label=true.",
                                    label.to_string()));
  Dims with_one = input.dims;
  with_one[at] = 1;
  Dims without;
  for (int d = 0; d < input.dims.ndim(); ++d) {
    if (d != at) without.push_back(input.dims[d]);
  }
  PHI_CHECK(label.dims == with_one || label.dims == without,
            errors::InvalidArgument("label is {} and input is {} with its classes on tensor dim "
                                    "{}: label must be {} or {}; reshape it.",
                                    label.to_string(), input.to_string(), at, with_one.to_string(),
                                    without.to_string()));
}

}  // namespace

std::tuple<TensorMeta, TensorMeta> CrossEntropyWithSoftmaxInferMeta(const TensorMeta& input,
                                                                    const TensorMeta& label,
                                                                    bool soft_label, bool, bool,
                                                                    int, int axis) {
  PHI_CHECK(
      is_floating(input.dtype),
      errors::InvalidArgument("input is {}, but it must be floating; cast it.", input.to_string()));
  const int at = normalise_axis(axis, input.dims.ndim(), input.dims);
  if (soft_label) {
    check_soft_label(input, label);
  } else {
    check_hard_label(input, label, at);
  }
  TensorMeta loss = input;
  loss.dims[at] = 1;
  return {input, loss};
}

}  // namespace phi
