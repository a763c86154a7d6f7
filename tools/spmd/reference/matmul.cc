// The reference's matmuls and einsums.
#include <algorithm>

#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/sharding.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::FactorNames;
using distributed::Factors;
using distributed::Sharding;
using distributed::SpmdResult;
using distributed::SpmdRule;
using distributed::TensorDistAttr;
using distributed::TensorSpec;

const char* vector_operand(const RuleArgs& args, Direction direction) {
  const bool is_vector[] = {args.spec(0).ndim() == 1, args.spec(1).ndim() == 1};
  for (int i = 0; i < 2; ++i) {
    if (is_vector[i] && args.attr<bool>(i)) return "a vector is to be transposed.";
    if (is_vector[i] && direction == Direction::kBackward)
      return "an operand is a vector, whose output has lost a dim.";
  }
  return nullptr;
}

TensorSpec placed(const TensorSpec& tensor, const TensorDistAttr* attr) {
  TensorSpec result = tensor;
  result.attr = attr;
  return result;
}

void check_bmm(const TensorSpec& x, const TensorSpec& y) {
  PHI_CHECK(x.ndim() == 3 && y.ndim() == 3,
            errors::InvalidArgument("x is {}, y is {}; both need 3 dims.", x.shape.to_string(),
                                    y.shape.to_string()));
}

SpmdRule bmm(const TensorSpec& x, const TensorSpec& y) {
  check_bmm(x, y);
  return distributed::MatmulInferSpmd(x, y, false, false);
}

// Two matmuls whose results must agree on the tensors that they share.
SpmdResult bmm_grad(const RuleArgs& args) {
  const TensorSpec &x = args.spec(0), &y = args.spec(1), &out_grad = args.spec(2);
  check_bmm(x, y);
  const SpmdResult forward = resolved_result(distributed::MatmulInferSpmd(x, y, false, false));
  const TensorSpec own_x = placed(x, forward.inputs[0]);
  const TensorSpec own_y = placed(y, forward.inputs[1]);
  const SpmdResult dx = resolved_result(distributed::MatmulInferSpmd(out_grad, own_y, false, true));
  const SpmdResult dy = resolved_result(distributed::MatmulInferSpmd(own_x, out_grad, true, false));
  // The reference drops a split of a contracted dim if it is uneven.
  const auto uneven = [](const TensorSpec& tensor, int d) {
    const Sharding sharding = Sharding::of(tensor);
    return tensor.shape[d] % sharding.dims[static_cast<size_t>(d)].parts(tensor.attr->mesh()) != 0;
  };
  PHI_CHECK(!uneven(placed(x, dy.inputs[0]), 1) && !uneven(placed(y, dx.inputs[1]), 2),
            errors::Unimplemented("a dim that is summed over is split unevenly."));
  PHI_CHECK(
      dx.inputs[1] == own_y.attr && dy.inputs[0] == own_x.attr && dx.inputs[0] == dy.inputs[1],
      errors::Unimplemented("the two gradients need x, y or out_grad placed differently."));
  SpmdResult result;
  for (const auto* attr : {dy.inputs[0], dx.inputs[1], dx.inputs[0]}) result.inputs.push_back(attr);
  for (const auto* attr : {dx.outputs[0], dy.outputs[0]}) result.outputs.push_back(attr);
  return result;
}

// x [..., m, k] times y [..., k, n] plus bias [n]. The first tensor takes precedence, and the bias
// follows the output. The second output is reserved and not recorded.
struct LinearResult {
  SpmdResult result;
  const TensorDistAttr* out;
};

LinearResult biased(const TensorSpec& x, const TensorSpec& y, const TensorSpec& bias, bool trans_x,
                    bool trans_y) {
  PHI_CHECK(
      x.ndim() >= 2 && y.ndim() >= 2 && bias.ndim() == 1,
      errors::InvalidArgument("x is {}, y is {}, bias is {}; matrices and a vector are "
                              "needed.",
                              x.shape.to_string(), y.shape.to_string(), bias.shape.to_string()));
  const auto batch = Factors::batch(x.ndim() - 2, y.ndim() - 2);
  Factors rule;
  rule.input(x, batch, trans_x ? "km" : "mk").input(y, batch, trans_y ? "nk" : "kn");
  rule.input(bias, "n").last_input_follows().output(batch, "mn").absent_output();
  LinearResult answer{resolved_result(rule), nullptr};
  answer.out = answer.result.outputs[0];
  return answer;
}

// The bias is partial where the output is: each rank would add a part of it.
SpmdResult fused_gemm_epilogue(const RuleArgs& args) {
  const TensorSpec& bias = args.spec(2);
  LinearResult answer =
      biased(args.spec(0), args.spec(1), bias, args.attr<bool>(0), args.attr<bool>(1));
  Sharding own = Sharding::of(placed(bias, answer.result.inputs[2]));
  own.partial_mask = 0;
  for (int m : answer.out->partial_dims()) own.set_partial(m, distributed::ReduceKind::kSum);
  answer.result.inputs[2] = own.attr(answer.out->mesh());
  return answer.result;
}

// All dims but the leading ones become unsharded if the output would be partial.
SpmdResult linear_v2(const RuleArgs& args) {
  PHI_CHECK(!args.attr<bool>(0), errors::InvalidArgument("transpose_weight must be false."));
  LinearResult answer = biased(args.spec(0), args.spec(1), args.spec(2), false, false);
  if (answer.out->partial_dims().empty()) return answer.result;
  const auto whole = [&](const TensorDistAttr* attr, int ndim) {
    Sharding sharding = Sharding::of({Dims::filled(ndim, 1), attr});
    sharding.partial_mask = 0;
    for (int d = std::max(0, ndim - 2); d < ndim; ++d) sharding.dims[d] = {};
    return sharding.attr(attr->mesh());
  };
  for (int i = 0; i < 3; ++i) {
    const auto at = static_cast<size_t>(i);
    answer.result.inputs[at] = whole(answer.result.inputs[at], args.spec(i).ndim());
  }
  answer.result.outputs[0] = whole(answer.out, std::max(args.spec(0).ndim(), args.spec(1).ndim()));
  return answer.result;
}

// `attr` of a tensor reduced to its last `kept` dims; the other dims are summed.
const TensorDistAttr* summed(const TensorDistAttr* attr, int ndim, int kept) {
  const Sharding from = Sharding::of({Dims::filled(ndim, 1), attr});
  Sharding to;
  for (int d = 0; d < ndim; ++d) {
    const int own = d - (ndim - kept);
    if (own >= 0) {
      to.dims[own] = from.dims[d];
    } else {
      for (int m : from.dims[d]) to.set_partial(m, distributed::ReduceKind::kSum);
    }
  }
  for (int m : attr->partial_dims()) to.set_partial(m, attr->placement(m).reduce());
  return to.attr(attr->mesh());
}

void check_same(const TensorSpec* given, const TensorDistAttr* needed, const char* what) {
  PHI_CHECK(given == nullptr || given->attr == needed,
            errors::InvalidArgument("{} is {}, what is added to it {}.", what,
                                    given->attr->to_string(), needed->to_string()));
}

// x, dout, dweight?, dbias?: the weight gradient is a matmul. dweight and dbias need the placements
// of the gradients that are added to them.
SpmdResult linear_param_grad(const RuleArgs& args) {
  const TensorSpec &x = args.spec(0), &dout = args.spec(1);
  const SpmdResult product = resolved_result(distributed::MatmulInferSpmd(x, dout, true, false));
  const auto* weight = summed(product.outputs[0], std::max(x.ndim(), dout.ndim()), 2);
  const auto* bias = args.attr<bool>(1) ? summed(dout.attr, dout.ndim(), 1) : nullptr;
  check_same(args.optional_spec(2), weight, "dweight");
  if (bias != nullptr) check_same(args.optional_spec(3), bias, "dbias");
  SpmdResult result;
  result.inputs.push_back(product.inputs[0]);
  result.inputs.push_back(product.inputs[1]);
  for (int i : {2, 3}) result.inputs.push_back(args.spec(i).attr);
  result.outputs.push_back(weight);
  result.outputs.push_back(bias);
  return result;
}

// The reference counts each dot of the equation as one dim that is never split, however many dims
// it stands for. Letters after the last dim are then ignored, and the output lacks them.
struct EinsumLetters {
  std::vector<FactorNames> inputs;
  FactorNames output;
};

EinsumLetters operands(std::span<const TensorSpec> x, const std::string& equation) {
  PHI_CHECK(x.size() <= 2,
            errors::InvalidArgument("{} operands are passed; at most 2 are accepted.", x.size()));
  const auto parsed = distributed::Equation::parse(equation, x.size());
  const auto text = [](const distributed::Equation::Subscripts& term) {
    return term.before + (term.ellipsis ? "111" : "") + term.after;
  };
  EinsumLetters names;
  std::string seen = "1";
  for (size_t i = 0; i < x.size(); ++i) {
    const std::string all = text(parsed.inputs[i]);
    names.inputs.emplace_back(std::string_view(all).substr(0, static_cast<size_t>(x[i].ndim())));
    seen += names.inputs.back().view();
  }
  for (char letter : text(parsed.output)) {
    if (seen.find(letter) != seen.npos) names.output.push_back(letter);
  }
  return names;
}

SpmdRule einsum(std::span<const TensorSpec> x, const std::string& equation) {
  const EinsumLetters names = operands(x, equation);
  Factors rule;
  for (size_t i = 0; i < x.size(); ++i) rule.input(x[i], names.inputs[i]);
  return rule.output(names.output);
}

// Whether a letter that the other operand lacks lost a mesh dim.
bool loses_own_letter(const TensorSpec& x, const TensorDistAttr* answer, const FactorNames& names,
                      const FactorNames& other) {
  const Sharding given = Sharding::of(x);
  const Sharding left = Sharding::of(placed(x, answer));
  for (int d = 0; d < x.ndim(); ++d) {
    const auto at = static_cast<size_t>(d);
    const char letter = names.view()[at];
    const bool own = letter != '1' && other.view().find(letter) == std::string_view::npos;
    if (own && (given.dims[at].mask() & ~left.dims[at].mask()) != 0) return true;
  }
  return false;
}

// Caches are ignored. With two operands, out_grad has no influence.
SpmdResult einsum_grad(const RuleArgs& args) {
  const auto x = args.list_spec(0);
  const EinsumLetters names = operands(x, args.attr<std::string>(0));
  Factors rule;
  for (size_t i = 0; i < x.size(); ++i) rule.input(x[i], names.inputs[i]);
  rule.input(args.spec(2), names.output);
  if (x.size() == 2) rule.last_input_follows();
  for (int i = 0; i < static_cast<int>(x.size()); ++i) rule.output_like(i);
  const SpmdResult result = resolved_result(rule);
  for (size_t i = 0; x.size() == 2 && i < 2; ++i) {
    PHI_CHECK(!loses_own_letter(x[i], result.inputs[i], names.inputs[i], names.inputs[1 - i]),
              errors::InvalidArgument("the other operand's gradient would be partial over a mesh "
                                      "dim that splits it."));
  }
  return result;
}

}  // namespace

ReferenceRules matmul_reference_rules() {
  const Policies matmul = {.backward_outputs = BackwardOutputs::kAsGiven,
                           .refusal = vector_operand};
  return {{rule_variant("bmm", {"", infer_rule<bmm>}, "x, y"),
           rule_variant("bmm_grad", {"", composed<bmm_grad>}, "x, y, out_grad"),
           rule_variant("einsum", {"", infer_rule<einsum>}, "[inputs]", "equation: string"),
           rule_variant("einsum_grad", {"", composed<einsum_grad>},
                        "[inputs], [inner_cache], out_grad", "equation: string"),
           rule_variant("fused_gemm_epilogue", {"", composed<fused_gemm_epilogue>}, "x, y, bias",
                        "trans_x: bool, trans_y: bool"),
           rule_variant("linear_v2", {"", composed<linear_v2>}, "input, weight, bias",
                        "transpose_weight: bool"),
           rule_variant("fused_linear_param_grad_add", {"", composed<linear_param_grad>},
                        "x, dout, dweight?, dbias?", "multi_precision: bool, has_bias: bool")},
          {{"matmul matmul_v2",
            "matmul",
            matmul,
            {{"trans_x", "transpose_x"}, {"trans_y", "transpose_y"}}},
           {"bmm", "bmm", {}, {}, "bmm_grad"},
           {"einsum", "einsum", {}, {}, "einsum_grad"},
           {"fused_gemm_epilogue", "fused_gemm_epilogue"},
           {"linear_v2", "linear_v2"},
           {"fused_linear_param_grad_add", "fused_linear_param_grad_add"}}};
}

}  // namespace phi::spmd_tool
