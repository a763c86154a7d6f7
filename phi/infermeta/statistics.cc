// Shapes and dtypes of counts: of values, of segments, of predictions that meet their labels.
#include "phi/infermeta/statistics.h"

#include "phi/common/errors.h"
#include "phi/infermeta/checks.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

bool may_equal(int64_t a, int64_t b) { return a == b || a == kUnknownDim || b == kUnknownDim; }

}  // namespace

TensorMeta BincountInferMeta(const TensorMeta& x, const TensorMeta* weights,
                             const Scalar& minlength) {
  PHI_CHECK(x.dims.ndim() == 1 && is_index(x),
            errors::InvalidArgument(
                "x is {}, but it must be a 1-D tensor of int32 or int64; reshape or cast it.",
                x.to_string()));
  PHI_CHECK(
      !weights || weights->dims == x.dims,
      errors::InvalidArgument("weights is {} and x is {}: each element of x needs one weight.",
                              weights ? weights->to_string() : "", x.to_string()));
  PHI_CHECK(count_of(minlength, "minlength") >= 0,
            errors::InvalidArgument("minlength is {}, but it must not be negative.",
                                    minlength.to_string()));
  DataType dtype = DataType::INT64;
  if (weights) dtype = weights->dtype == DataType::FLOAT32 ? DataType::FLOAT32 : DataType::FLOAT64;
  return {{kUnknownDim}, dtype, x.layout};
}

TensorMeta HistogramInferMeta(const TensorMeta& input, const TensorMeta* weight, int64_t bins,
                              int min, int max, bool density) {
  PHI_CHECK(bins >= 1,
            errors::InvalidArgument("bins is {}, but there must be at least one.", bins));
  PHI_CHECK(min <= max, errors::InvalidArgument(
                            "min is {} and max is {}; min must not be above max.", min, max));
  PHI_CHECK(!weight || (weight->dims == input.dims && weight->dtype == input.dtype),
            errors::InvalidArgument("weight is {} and input is {}: each element of input needs one "
                                    "weight of its dtype.",
                                    weight ? weight->to_string() : "", input.to_string()));
  return {{bins}, weight || density ? DataType::FLOAT32 : DataType::INT64, input.layout};
}

TensorMeta SegmentPoolInferMeta(const TensorMeta& x, const TensorMeta& segment_ids,
                                const std::string& pooltype) {
  PHI_CHECK(
      pooltype == "SUM" || pooltype == "MEAN" || pooltype == "MAX" || pooltype == "MIN",
      errors::InvalidArgument("pooltype is '{}', but it must be SUM, MEAN, MAX or MIN.", pooltype));
  PHI_CHECK(x.dims.ndim() >= 1 && segment_ids.dims.ndim() == 1 && is_index(segment_ids) &&
                may_equal(x.dims[0], segment_ids.dims[0]),
            errors::InvalidArgument("segment_ids is {} and x is {}: each row of x needs one id of "
                                    "int32 or int64.",
                                    segment_ids.to_string(), x.to_string()));
  TensorMeta out = x;
  out.dims[0] = kUnknownDim;
  return out;
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> AccuracyInferMeta(const TensorMeta& x,
                                                                 const TensorMeta& indices,
                                                                 const TensorMeta& label) {
  PHI_CHECK(x.dims.ndim() == 2 && indices.dims == x.dims && is_index(indices),
            errors::InvalidArgument("x is {} and indices is {}: both must be [n, k], indices of "
                                    "int32 or int64.",
                                    x.to_string(), indices.to_string()));
  PHI_CHECK(label.dims.ndim() == 2 && label.dims[1] == 1 && may_equal(label.dims[0], x.dims[0]) &&
                label.dtype == indices.dtype,
            errors::InvalidArgument("label is {} and indices is {}: label must be [n, 1] of "
                                    "indices' dtype; reshape or cast it.",
                                    label.to_string(), indices.to_string()));
  return {TensorMeta{{}, DataType::FLOAT32, x.layout}, TensorMeta{{}, DataType::INT32, x.layout},
          TensorMeta{{}, DataType::INT32, x.layout}};
}

std::tuple<TensorMeta, TensorMeta, TensorMeta> AucInferMeta(
    const TensorMeta& x, const TensorMeta& label, const TensorMeta& stat_pos,
    const TensorMeta& stat_neg, const TensorMeta* ins_tag_weight, const std::string& curve,
    int num_thresholds, int slide_steps) {
  PHI_CHECK(curve == "ROC" || curve == "PR",
            errors::InvalidArgument("curve is '{}', but it must be ROC or PR.", curve));
  PHI_CHECK(x.dims.ndim() == 2 && (x.dims[1] == 1 || x.dims[1] == 2),
            errors::InvalidArgument("x is {}, but probabilities must be [n, 1] or [n, 2].",
                                    x.to_string()));
  const bool is_column = label.dims.ndim() == 2 && label.dims[1] == 1;
  PHI_CHECK((is_column || label.dims.ndim() == 1) && may_equal(label.dims[0], x.dims[0]) &&
                label.dtype == DataType::INT64,
            errors::InvalidArgument("label is {} and x is {}: each row of x needs one label of "
                                    "int64.",
                                    label.to_string(), x.to_string()));
  PHI_CHECK(num_thresholds >= 1 && slide_steps >= 0,
            errors::InvalidArgument("num_thresholds is {} and slide_steps is {}; they must be at "
                                    "least 1 and 0.",
                                    num_thresholds, slide_steps));
  const int64_t buckets = int64_t{num_thresholds} + 1;
  const int64_t room = slide_steps == 0 ? buckets : (int64_t{slide_steps} + 1) * buckets + 1;
  for (const TensorMeta* stat : {&stat_pos, &stat_neg}) {
    PHI_CHECK(stat->dtype == DataType::INT64 && (!stat->dims.known() || stat->numel() >= room),
              errors::InvalidArgument("stat_pos is {} and stat_neg is {}, but {} thresholds in {} "
                                      "windows need {} counts of int64 in each.",
                                      stat_pos.to_string(), stat_neg.to_string(), num_thresholds,
                                      slide_steps, room));
  }
  PHI_CHECK(!ins_tag_weight || ins_tag_weight->dtype == DataType::FLOAT32,
            errors::InvalidArgument("ins_tag_weight is {}, but it must be float32; cast it.",
                                    ins_tag_weight ? ins_tag_weight->to_string() : ""));
  const TensorMeta counts{slide_steps == 0 ? Dims{1, room} : Dims{room}, DataType::INT64, x.layout};
  return {TensorMeta{{}, DataType::FLOAT64, x.layout}, counts, counts};
}

}  // namespace phi
