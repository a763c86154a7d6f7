// The reference's names of functions of one element, or of two.
#include "distributed/spmd/rules.h"
#include "tools/spmd/reference/form.h"

namespace phi::spmd_tool {
namespace {

using distributed::Factors;
using distributed::SpmdRule;
using distributed::TensorSpec;

const char* narrow_condition(const RuleArgs& args, Direction) {
  const int ndim = std::max(args.spec(1).ndim(), args.spec(2).ndim());
  return args.spec(0).ndim() < ndim ? "condition has fewer dims than x or y." : nullptr;
}

// The seed is nobody's part.
SpmdRule dropout_add(const TensorSpec& x, const TensorSpec& y) {
  const auto all = Factors::batch(x.ndim(), y.ndim());
  Factors rule;
  return rule.input(x, all, "").input(y, all, "").output(all, "").output("_");
}

// The names of one function stand for all of them: no attribute counts.
constexpr std::string_view kUnary =
    "elementwise_unary abs acos acosh asin asinh atan atanh bernoulli bitwise_not ceil celu clip "
    "conj cos cosh digamma dropout elu erf erfinv expm1 fill floor hardshrink hardsigmoid "
    "hardswish "
    "hardtanh leaky_relu lgamma log10 log1p log2 logical_not logit logsigmoid mish poisson pow "
    "reciprocal relu6 round scale selu sign sin sinh softplus softshrink softsign stanh swish tan "
    "tanh_shrink thresholded_relu trunc";
constexpr std::string_view kBinary =
    "elementwise_binary add bitwise_and bitwise_or bitwise_xor divide elementwise_add "
    "elementwise_div elementwise_mul elementwise_pow floor_divide fmax fmin greater_than heaviside "
    "less_than logical_and logical_or logical_xor maximum minimum not_equal remainder subtract "
    "trunc_divide";

}  // namespace

Subject elementwise_subject() {
  const Policies binary = {.backward_outputs = BackwardOutputs::kAsGivenWhole};
  Policies dropout = binary;
  dropout.inputs_apart = true;
  return {{form("fused_dropout_add", {"", ask<dropout_add>}, "x, y"),
           form("label_smooth", {"LabelSmoothInferSpmd", ask<distributed::LabelSmoothInferSpmd>},
                "label, prior_dist?", "epsilon: float"),
           form("label_smooth_grad",
                {"LabelSmoothGradInferSpmd", ask<distributed::LabelSmoothGradInferSpmd>},
                "out_grad", "epsilon: float")},
          {{kUnary, "exp"},
           {kBinary, "add", binary},
           {"multiply", "", binary},
           {"gelu", "", {}, {}, "gelu_grad"},
           {"where", "", {.refusal = narrow_condition}},
           {"fused_dropout_add", "fused_dropout_add", dropout},
           {"label_smooth", "label_smooth", {}, {}, "label_smooth_grad"}}};
}

}  // namespace phi::spmd_tool
