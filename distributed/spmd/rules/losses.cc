// Losses as factors: samples may be split, classes are whole.
#include "distributed/spmd/rules/losses.h"

#include "distributed/spmd/rules/factor_names.h"

namespace phi::distributed {
namespace {

Factors sigmoid_inputs(const TensorSpec& x, const TensorSpec& label, const TensorSpec* pos_weight) {
  const auto all = Factors::batch(x.ndim());
  Factors rule;
  rule.input(x, all, "").input(label, all, "");
  if (!pos_weight) return rule.absent_input();
  return rule.input(*pos_weight, all, "");
}

// The factors of input [N, C, ...], and of label [N, ...].
struct ClassFactors {
  FactorNames input;
  FactorNames label;
  explicit ClassFactors(const TensorSpec& of) : input(dim_names(of.ndim())) {
    for (int d = 0; d < of.ndim(); ++d) {
      if (d != 1) label.push_back(input[d]);
    }
    input[1] = '_';
  }
};

Factors nll_inputs(const TensorSpec& input, const TensorSpec& label, const TensorSpec* weight) {
  const ClassFactors names(input);
  Factors rule;
  rule.input(input, names.input).input(label, names.label);
  if (!weight) return rule.absent_input();
  return rule.input(*weight, "_");
}

}  // namespace

SpmdRule SigmoidCrossEntropyInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                      const TensorSpec* pos_weight) {
  return sigmoid_inputs(x, label, pos_weight).output(Factors::batch(x.ndim()), "");
}

SpmdRule SigmoidCrossEntropyGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                                          const TensorSpec* pos_weight,
                                          const TensorSpec& out_grad) {
  Factors rule = sigmoid_inputs(x, label, pos_weight);
  return rule.input(out_grad, Factors::batch(x.ndim()), "").output_like(0);
}

SpmdRule KLDivInferSpmd(const TensorSpec& x, const TensorSpec& label,
                        const std::string& reduction) {
  const auto names = dim_names(x.ndim());
  return Factors().input(x, names).input(label, names).output(reduction == "none" ? names : "");
}

SpmdRule KLDivGradInferSpmd(const TensorSpec& x, const TensorSpec& label,
                            const TensorSpec& out_grad, const std::string& reduction) {
  const auto names = dim_names(x.ndim());
  Factors rule;
  rule.input(x, names).input(label, names);
  return rule.input(out_grad, reduction == "none" ? names : "").output_like(0);
}

SpmdRule NllLossInferSpmd(const TensorSpec& input, const TensorSpec& label,
                          const TensorSpec* weight, const std::string& reduction) {
  const FactorNames samples = ClassFactors(input).label;
  Factors rule = nll_inputs(input, label, weight);
  rule.output(reduction == "none" ? samples.view() : "").output("");
  return reduction == "mean" ? rule.combined(samples) : rule;
}

SpmdRule NllLossGradInferSpmd(const TensorSpec& input, const TensorSpec& label,
                              const TensorSpec* weight, const TensorSpec& total_weight,
                              const TensorSpec& out_grad, const std::string& reduction) {
  const FactorNames samples = ClassFactors(input).label;
  Factors rule = nll_inputs(input, label, weight);
  rule.input(total_weight, "").input(out_grad, reduction == "none" ? samples.view() : "");
  return rule.output_like(0);
}

}  // namespace phi::distributed
