// Normalisations and cross entropy as factors.
#include "distributed/spmd/rules/norm.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

// Whether the kernel of the loss supports split classes.
bool classes_may_split(bool soft_label, bool use_softmax, int classes, int ndim) {
  return !soft_label && use_softmax && classes == ndim - 1;
}

// The factors of the label, which may lack the class dim `classes`.
FactorNames label_dims(const TensorSpec& x, const TensorSpec& label, bool soft_label, int classes,
                       std::string_view names, std::string_view per_sample) {
  PHI_CHECK(label.ndim() == x.ndim() || (!soft_label && label.ndim() == x.ndim() - 1),
            errors::InvalidArgument("label is {}, x is {}: soft labels have the shape of x, index "
                                    "labels have size 1 at axis {} or lack it.",
                                    label.shape.to_string(), x.shape.to_string(), classes));
  FactorNames label_names;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == classes && label.ndim() < x.ndim()) continue;
    label_names.push_back((soft_label ? names : per_sample)[static_cast<size_t>(d)]);
  }
  return label_names;
}

void add_weights(Factors* rule, std::initializer_list<const TensorSpec*> weights) {
  for (const TensorSpec* weight : weights) {
    if (weight == nullptr) {
      rule->absent_input();
    } else {
      rule->input(*weight, "_");
    }
  }
}

}  // namespace

SpmdRule LayerNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float, int begin_norm_axis) {
  const int begin = normal_axis(begin_norm_axis, x.ndim(), "begin_norm_axis");
  const auto names = dim_names(x.ndim());
  const auto lead = names.substr(0, begin);
  Factors rule;
  rule.input(x, names);
  add_weights(&rule, {scale, bias});
  FactorNames out(lead);
  while (out.size() < x.ndim()) out.push_back('1');
  return rule.output(out).output(lead).output(lead).whole(names.substr(begin));
}

SpmdRule LayerNormGradInferSpmd(const TensorSpec& x, const TensorSpec* scale,
                                const TensorSpec* bias, const TensorSpec& mean,
                                const TensorSpec& variance, const TensorSpec& out_grad,
                                int begin_norm_axis) {
  const int begin = normal_axis(begin_norm_axis, x.ndim(), "begin_norm_axis");
  const auto names = dim_names(x.ndim());
  const auto lead = names.substr(0, begin);
  Factors rule;
  rule.input(x, names);
  add_weights(&rule, {scale, bias});
  rule.input(mean, lead).input(variance, lead).input(out_grad, names);
  // Sums over rows, so partial where rows are split.
  return rule.output_like(0).output_like(1).output_like(2).whole(names.substr(begin));
}

SpmdRule RmsNormInferSpmd(const TensorSpec& x, const TensorSpec& scale, float) {
  PHI_CHECK(x.ndim() > 0, errors::InvalidArgument("x is a scalar; there is no dim to normalise."));
  const auto names = dim_names(x.ndim());
  return Factors()
      .input(x, names)
      .input(scale, "w")
      .output(names)
      .output(names.substr(0, names.size() - 1))
      .whole(names.substr(names.size() - 1))
      .whole("w");
}

SpmdRule RmsNormGradInferSpmd(const TensorSpec& x, const TensorSpec& scale,
                              const TensorSpec& invvar, const TensorSpec& out_grad) {
  PHI_CHECK(x.ndim() > 0, errors::InvalidArgument("x is a scalar; there is no dim to normalise."));
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).input(scale, "_").input(invvar, names.substr(0, names.size() - 1));
  rule.input(out_grad, names).output_like(0).output_like(1);
  return rule.whole(names.substr(names.size() - 1));
}

SpmdRule CrossEntropyWithSoftmaxInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          bool soft_label, bool use_softmax, bool, int, int axis) {
  const int classes = normal_axis(axis, x.ndim());
  const auto names = dim_names(x.ndim());
  const auto class_name = names.substr(static_cast<size_t>(classes), 1);
  FactorNames per_sample(names);
  per_sample[classes] = '1';
  const FactorNames label_names = label_dims(x, label, soft_label, classes, names, per_sample);
  Factors rule;
  rule.input(x, names).input(label, label_names).output(names).output(per_sample);
  if (classes_may_split(soft_label, use_softmax, classes, x.ndim())) {
    return rule.combined(class_name);
  }
  return rule.whole(class_name);
}

SpmdRule CSoftmaxWithCrossEntropyInferSpmd(const TensorSpec& logits, const TensorSpec& label,
                                           int64_t, int, int) {
  return CrossEntropyWithSoftmaxInferSpmd(logits, label, false, true, true, 0, -1);
}

SpmdRule CSoftmaxWithCrossEntropyGradInferSpmd(const TensorSpec& softmax, const TensorSpec& label,
                                               const TensorSpec& loss_grad, int64_t, int, int) {
  const auto names = dim_names(softmax.ndim());
  FactorNames per_sample(names);
  per_sample[softmax.ndim() - 1] = '1';
  Factors rule;
  rule.input(softmax, names);
  rule.input(label, label_dims(softmax, label, false, softmax.ndim() - 1, names, per_sample));
  return rule.last_input_follows().input(loss_grad, per_sample).output_like(0);
}

SpmdRule CrossEntropyWithSoftmaxGradInferSpmd(const TensorSpec& label, const TensorSpec& softmax,
                                              const TensorSpec& loss_grad, bool soft_label,
                                              bool use_softmax, int axis) {
  const int classes = normal_axis(axis, softmax.ndim());
  const auto names = dim_names(softmax.ndim());
  FactorNames per_sample(names);
  per_sample[classes] = '1';
  Factors rule;
  rule.input(label, label_dims(softmax, label, soft_label, classes, names, per_sample));
  rule.last_input_follows().input(softmax, names).input(loss_grad, per_sample).output_like(1);
  if (classes_may_split(soft_label, use_softmax, classes, softmax.ndim())) return rule;
  return rule.whole(names.substr(static_cast<size_t>(classes), 1));
}

}  // namespace phi::distributed
