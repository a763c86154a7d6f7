// Normalisations and the loss as factors.
#include "distributed/spmd/rules/norm.h"

#include "distributed/spmd/rules/names.h"

namespace phi::distributed {

SpmdRule LayerNormInferSpmd(const TensorSpec& x, const TensorSpec* scale, const TensorSpec* bias,
                            float, int begin_norm_axis) {
  const int begin = normal_axis(begin_norm_axis, x.ndim(), "begin_norm_axis");
  const auto names = dim_names(x.ndim());
  const auto lead = names.substr(0, begin);
  Factors rule;
  rule.input(x, names);
  for (const TensorSpec* weight : {scale, bias}) {
    if (weight == nullptr) {
      rule.absent_input();
    } else {
      rule.input(*weight, "_");
    }
  }
  Names out(lead);
  while (out.size() < x.ndim()) out.push_back('1');
  rule.backward_keeps_partial();
  return rule.output(out).output(lead).output(lead).whole(names.substr(begin));
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

SpmdRule CrossEntropyWithSoftmaxInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          bool soft_label, bool use_softmax, bool, int, int axis) {
  const int classes = normal_axis(axis, x.ndim());
  const auto names = dim_names(x.ndim());
  const auto class_name = names.substr(classes, 1);
  Names per_sample(names);
  per_sample[classes] = '1';
  const bool label_has_classes = soft_label;
  PHI_CHECK(label.ndim() == x.ndim() || (!soft_label && label.ndim() == x.ndim() - 1),
            errors::InvalidArgument("label is {}, x is {}: soft labels have the shape of x, index "
                                    "labels have size 1 at axis {} or lack it.",
                                    label.shape.to_string(), x.shape.to_string(), axis));
  Names label_names;
  for (int d = 0; d < x.ndim(); ++d) {
    if (d == classes && label.ndim() < x.ndim()) continue;
    label_names.push_back(label_has_classes ? names[d] : per_sample[d]);
  }
  Names loss_names = label.ndim() < x.ndim() ? label_names : per_sample;
  Factors rule;
  rule.input(x, names).input(label, label_names).output(names).output(loss_names);
  rule.backward_last_output_first().backward_keeps_partial();
  if (soft_label || !use_softmax || classes != x.ndim() - 1) {
    return rule.whole(class_name)
        .refuse_split(
            class_name,
            "the classes are split, which needs index labels, use_softmax and classes in the last "
            "dim; make them whole first.");
  }
  return rule.combined(class_name);
}

}  // namespace phi::distributed
