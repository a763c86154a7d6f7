// The reference's products of matrices and its equations.
#include <algorithm>

#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/names.h"
#include "distributed/spmd/sharding.h"
#include "tools/spmd/reference/form.h"

namespace phi::spmd_tool {
namespace {

using distributed::Factors;
using distributed::Sharding;
using distributed::SpmdResult;
using distributed::SpmdRule;
using distributed::TensorDistAttr;
using distributed::TensorSpec;

const char* vector_operand(const RuleArgs& args, Direction direction) {
  const bool vector = args.spec(0).ndim() == 1 || args.spec(1).ndim() == 1;
  return direction == Direction::kBackward && vector
             ? "an operand is a vector, whose output has lost a dim."
             : nullptr;
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

// Two products whose answers have to agree on what they share.
SpmdResult bmm_grad(const RuleArgs& args) {
  const TensorSpec &x = args.spec(0), &y = args.spec(1), &out_grad = args.spec(2);
  check_bmm(x, y);
  const SpmdResult forward = settled(distributed::MatmulInferSpmd(x, y, false, false));
  const TensorSpec own_x = placed(x, forward.inputs[0]);
  const TensorSpec own_y = placed(y, forward.inputs[1]);
  const SpmdResult dx = settled(distributed::MatmulInferSpmd(out_grad, own_y, false, true));
  const SpmdResult dy = settled(distributed::MatmulInferSpmd(own_x, out_grad, true, false));
  PHI_CHECK(
      dx.inputs[1] == own_y.attr && dy.inputs[0] == own_x.attr && dx.inputs[0] == dy.inputs[1],
      errors::Unimplemented("the two gradients need x, y or out_grad placed differently."));
  SpmdResult result;
  for (const auto* attr : {dy.inputs[0], dx.inputs[1], dx.inputs[0]}) result.inputs.push_back(attr);
  for (const auto* attr : {dx.outputs[0], dy.outputs[0]}) result.outputs.push_back(attr);
  return result;
}

// x [..., m, k] times y [..., k, n] plus bias [n], the tensor met first deciding; the bias follows
// what the output gets, and the second output, a reserve, is not recorded.
struct Biased {
  SpmdResult result;
  const TensorDistAttr* out;
};

Biased biased(const TensorSpec& x, const TensorSpec& y, const TensorSpec& bias, bool trans_x,
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
  Biased answer{settled(rule), nullptr};
  answer.out = answer.result.outputs[0];
  return answer;
}

// The bias, partial where the output is: each rank would add a part of it.
SpmdResult fused_gemm_epilogue(const RuleArgs& args) {
  const TensorSpec& bias = args.spec(2);
  Biased answer = biased(args.spec(0), args.spec(1), bias, args.attr<bool>(0), args.attr<bool>(1));
  Sharding own = Sharding::of(placed(bias, answer.result.inputs[2]));
  own.partial_mask = 0;
  for (int m : answer.out->partial_dims()) own.set_partial(m, distributed::ReduceKind::kSum);
  answer.result.inputs[2] = own.attr(answer.out->mesh());
  return answer.result;
}

// All but the leading dims are made whole where the output would be partial.
SpmdResult linear_v2(const RuleArgs& args) {
  PHI_CHECK(!args.attr<bool>(0), errors::InvalidArgument("transpose_weight must be false."));
  Biased answer = biased(args.spec(0), args.spec(1), args.spec(2), false, false);
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

// The last `kept` dims of what lies as `attr`, the others summed.
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

// x, dout, dweight?, dbias?: the gradient of the weight is a product; dweight and dbias have to lie
// as what is added to them does.
SpmdResult linear_param_grad(const RuleArgs& args) {
  const TensorSpec &x = args.spec(0), &dout = args.spec(1);
  const SpmdResult product = settled(distributed::MatmulInferSpmd(x, dout, true, false));
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

// The reference takes the dims of "..." for dims that are never split.
std::vector<distributed::Names> operands(std::span<const TensorSpec> x, const std::string& equation,
                                         distributed::Names* output) {
  const auto parsed = distributed::Equation::parse(equation, x.size());
  PHI_CHECK(x.size() <= 2, errors::InvalidArgument("{} operands are given; 2 at most.", x.size()));
  const auto names_of = [](const distributed::Equation::Term& term, int dims) {
    distributed::Names names{std::string_view(term.before)};
    for (int d = 0; term.ellipsis && d < dims; ++d) names.push_back('1');
    for (char letter : term.after) names.push_back(letter);
    return names;
  };
  std::vector<distributed::Names> result;
  int batch = 0;
  for (size_t i = 0; i < x.size(); ++i) {
    const auto& term = parsed.inputs[i];
    const int dims = x[i].ndim() - static_cast<int>(term.before.size() + term.after.size());
    batch = std::max(batch, dims);
    result.push_back(names_of(term, dims));
  }
  *output = names_of(parsed.output, batch);
  return result;
}

SpmdRule einsum(std::span<const TensorSpec> x, const std::string& equation) {
  distributed::Names output;
  Factors rule;
  const auto names = operands(x, equation, &output);
  for (size_t i = 0; i < x.size(); ++i) rule.input(x[i], names[i]);
  return rule.output(output);
}

// The caches are not looked at.
SpmdRule einsum_grad(std::span<const TensorSpec> x, std::span<const TensorSpec>,
                     const TensorSpec& out_grad, const std::string& equation) {
  distributed::Names output;
  Factors rule;
  const auto names = operands(x, equation, &output);
  for (size_t i = 0; i < x.size(); ++i) rule.input(x[i], names[i]);
  rule.input(out_grad, output);
  for (int i = 0; i < static_cast<int>(x.size()); ++i) rule.output_like(i);
  return rule;
}

}  // namespace

Subject product_subject() {
  const Policies matmul = {.backward_outputs = BackwardOutputs::kAsGiven,
                           .refusal = vector_operand};
  return {{form("bmm", {"", ask<bmm>}, "x, y"),
           form("bmm_grad", {"", composed<bmm_grad>}, "x, y, out_grad"),
           form("einsum", {"", ask<einsum>}, "[inputs]", "equation: string"),
           form("einsum_grad", {"", ask<einsum_grad>}, "[inputs], [inner_cache], out_grad",
                "equation: string"),
           form("fused_gemm_epilogue", {"", composed<fused_gemm_epilogue>}, "x, y, bias",
                "trans_x: bool, trans_y: bool"),
           form("linear_v2", {"", composed<linear_v2>}, "input, weight, bias",
                "transpose_weight: bool"),
           form("fused_linear_param_grad_add", {"", composed<linear_param_grad>},
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
