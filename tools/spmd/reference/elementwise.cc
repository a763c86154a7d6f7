// The reference's elementwise functions of one or two tensors.
#include <algorithm>

#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/factor_names.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::FactorNames;
using distributed::Factors;
using distributed::SpmdRule;
using distributed::TensorSpec;

const char* narrow_condition(const RuleArgs& args, Direction) {
  const int ndim = std::max(args.spec(1).ndim(), args.spec(2).ndim());
  return args.spec(0).ndim() < ndim ? "condition has fewer dims than x or y." : nullptr;
}

// Letters aligned at the last dim, '1' where a tensor broadcasts.
FactorNames aligned(const TensorSpec& tensor, int ndim) {
  FactorNames names(distributed::dim_names(ndim).substr(static_cast<size_t>(ndim - tensor.ndim())));
  for (int d = 0; d < tensor.ndim(); ++d) {
    if (tensor.shape[d] == 1) names[d] = '1';
  }
  return names;
}

// The second output is the seed, which is replicated.
SpmdRule dropout_add(const TensorSpec& x, const TensorSpec& y) {
  const int ndim = std::max(x.ndim(), y.ndim());
  const auto names = distributed::dim_names(ndim);
  Factors rule;
  rule.input(x, aligned(x, ndim)).input(y, aligned(y, ndim)).output(names).output("_");
  return rule.combined(names);
}

// Dims of size 1 stay split, unlike those of the forward rule.
SpmdRule label_smooth_grad(const TensorSpec& out_grad, double) {
  const auto names = distributed::dim_names(out_grad.ndim());
  return Factors().input(out_grad, names).output(names);
}

// All names of one function; attributes have no effect.
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

ReferenceRules elementwise_reference_rules() {
  const Policies binary = {.backward_outputs = BackwardOutputs::kAsGivenWhole};
  Policies dropout = binary;
  dropout.forward_inputs = ForwardInputs::kAsGiven;
  dropout.one_mesh_dim = OneMeshDim::kOutputs;
  return {{rule_variant("fused_dropout_add", {"", infer_rule<dropout_add>}, "x, y"),
           rule_variant("label_smooth",
                        {"LabelSmoothInferSpmd", infer_rule<distributed::LabelSmoothInferSpmd>},
                        "label, prior_dist?", "epsilon: float"),
           rule_variant("label_smooth_grad", {"", infer_rule<label_smooth_grad>}, "out_grad",
                        "epsilon: float")},
          {{kUnary, "exp"},
           {kBinary, "add", binary},
           {"multiply", "", binary},
           {"gelu", "", {}, {}, "gelu_grad"},
           {"where", "", {.refusal = narrow_condition}},
           {"fused_dropout_add", "fused_dropout_add", dropout},
           {"label_smooth", "label_smooth", {}, {}, "label_smooth_grad"}}};
}

}  // namespace phi::spmd_tool
