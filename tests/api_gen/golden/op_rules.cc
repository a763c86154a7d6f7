// How the rule and the shape function of each operator are asked; see api/rules/rule_functions.h.
// Generated from ops.yaml, backward.yaml. Do not edit; change the YAML and build.
#include "api/generated/ops.h"
#include "api/rules/op_rule.h"
#include "distributed/spmd/rules.h"
#include "phi/infermeta/infermeta.h"

namespace phi {
namespace {

// ---- matmul ----

distributed::SpmdRule ask_matmul(const RuleArgs& args) {
  return MatmulInferSpmd(args.spec(0), args.spec(1), args.attr<bool>(0), args.attr<bool>(1));
}

OutputMetas infer_matmul(const RuleArgs& args) {
  return metas(MatmulInferMeta(args.meta(0), args.meta(1), args.attr<bool>(0), args.attr<bool>(1)));
}

OpRule rule_of_matmul() {
  return OpRule("matmul", rules::of::matmul)
      .tensor("x")
      .tensor("y")
      .attribute(OpRule::optional<bool>("transpose_x", false))
      .attribute(OpRule::optional<bool>("transpose_y", false))
      .output("out");
}

// ---- relu ----

distributed::SpmdRule ask_relu(const RuleArgs& args) {
  return ElementwiseUnaryInferSpmd(args.spec(0));
}

OutputMetas infer_relu(const RuleArgs& args) { return metas(UnchangedInferMeta(args.meta(0))); }

OpRule rule_of_relu() { return OpRule("relu", rules::of::relu).tensor("x").output("out"); }

// ---- split ----

distributed::SpmdRule ask_split(const RuleArgs& args) {
  return SplitInferSpmd(args.spec(0), args.attr<IntArray>(0), args.attr<Scalar>(1));
}

OutputMetas infer_split(const RuleArgs& args) {
  return metas(SplitInferMeta(args.meta(0), args.attr<IntArray>(0), args.attr<Scalar>(1)));
}

OpRule rule_of_split() {
  return OpRule("split", rules::of::split)
      .tensor("x")
      .attribute(OpRule::required<IntArray>("sections"))
      .attribute(OpRule::optional<Scalar>("axis", 0))
      .output("out");
}

// ---- concat ----

OutputMetas infer_concat(const RuleArgs& args) {
  return metas(ConcatInferMeta(args.list_meta(0), args.attr<Scalar>(0)));
}

OpRule rule_of_concat() {
  return OpRule("concat", rules::of::concat)
      .tensor("x", TensorKind::kList)
      .attribute(OpRule::optional<Scalar>("axis", 0))
      .output("out");
}

// ---- norm ----

distributed::SpmdRule ask_norm(const RuleArgs& args) {
  return NormInferSpmd(args.spec(0), args.optional_spec(1), args.attr<float>(0));
}

OutputMetas infer_norm(const RuleArgs& args) {
  return metas(NormInferMeta(args.meta(0), args.optional_meta(1), args.attr<float>(0)));
}

OpRule rule_of_norm() {
  return OpRule("norm", rules::of::norm)
      .tensor("x")
      .tensor("scale", TensorKind::kOptional)
      .attribute(OpRule::optional<float>("epsilon", 1e-5f))
      .output("out")
      .output("mean");
}

// ---- nonzero ----

distributed::SpmdRule ask_nonzero(const RuleArgs& args) { return NonZeroInferSpmd(args.spec(0)); }

OutputMetas infer_nonzero(const RuleArgs& args) { return metas(NonZeroInferMeta(args.meta(0))); }

OpRule rule_of_nonzero() {
  return OpRule("nonzero", rules::of::nonzero).tensor("condition").output("out");
}

// ---- reshape ----

distributed::SpmdRule ask_reshape(const RuleArgs& args) {
  return ReshapeInferSpmd(args.spec(0), args.attr<IntArray>(0));
}

OutputMetas infer_reshape(const RuleArgs& args) {
  return metas(ReshapeInferMeta(args.meta(0), args.attr<IntArray>(0)));
}

OpRule rule_of_reshape() {
  return OpRule("reshape", rules::of::reshape)
      .tensor("x")
      .attribute(OpRule::required<IntArray>("shape"))
      .output("out");
}

// ---- full ----

OutputMetas infer_full(const RuleArgs& args) {
  return metas(CreateInferMeta(args.attr<IntArray>(0), args.attr<DataType>(2)));
}

OpRule rule_of_full() {
  return OpRule("full", rules::of::full)
      .attribute(OpRule::required<IntArray>("shape"))
      .attribute(OpRule::required<Scalar>("value"))
      .attribute(OpRule::optional<DataType>("dtype", DataType::FLOAT32))
      .attribute(OpRule::optional<Place>("place", CPUPlace()))
      .output("out");
}

// ---- momentum_ ----

distributed::SpmdRule ask_momentum_(const RuleArgs& args) {
  return MomentumInferSpmd(args.spec(0), args.spec(1), args.spec(2), args.optional_spec(3));
}

OutputMetas infer_momentum_(const RuleArgs& args) {
  return metas(MomentumInferMeta(args.meta(0), args.meta(1), args.meta(2), args.optional_meta(3)));
}

OpRule rule_of_momentum_() {
  return OpRule("momentum_", rules::of::momentum_)
      .tensor("param")
      .tensor("grad")
      .tensor("velocity")
      .tensor("master_param", TensorKind::kOptional)
      .attribute(OpRule::required<float>("mu"))
      .output("param_out")
      .output("velocity_out")
      .output("master_param_out");
}

// ---- bmm ----

distributed::SpmdRule ask_bmm(const RuleArgs& args) {
  const auto batch = distributed::Factors::batch(args.spec(0).ndim() - 2, args.spec(1).ndim() - 2);
  return distributed::Factors()
      .input(args.spec(0), batch, "mk")
      .input(args.spec(1), batch, "kn")
      .output(batch, "mn");
}

OutputMetas infer_bmm(const RuleArgs& args) {
  return metas(BmmInferMeta(args.meta(0), args.meta(1)));
}

OpRule rule_of_bmm() { return OpRule("bmm", rules::of::bmm).tensor("x").tensor("y").output("out"); }

// ---- matmul_grad ----

distributed::SpmdRule ask_matmul_grad(const RuleArgs& args) {
  return MatmulGradInferSpmd(args.spec(0), args.spec(1), args.spec(2), args.attr<bool>(0),
                             args.attr<bool>(1));
}

OutputMetas infer_matmul_grad(const RuleArgs& args) {
  return metas(GeneralBinaryGradInferMeta(args.meta(0), args.meta(1)));
}

OpRule rule_of_matmul_grad() {
  return OpRule("matmul_grad", rules::of::matmul_grad)
      .tensor("x")
      .tensor("y")
      .tensor("out_grad")
      .attribute(OpRule::required<bool>("transpose_x"))
      .attribute(OpRule::required<bool>("transpose_y"))
      .output("x_grad")
      .output("y_grad");
}

// ---- relu_grad ----

distributed::SpmdRule ask_relu_grad(const RuleArgs& args) {
  return ElementwiseUnaryGradInferSpmd(args.spec(0), args.spec(1));
}

OutputMetas infer_relu_grad(const RuleArgs& args) {
  return metas(UnchangedInferMeta(args.meta(0)));
}

OpRule rule_of_relu_grad() {
  return OpRule("relu_grad", rules::of::relu_grad)
      .tensor("out")
      .tensor("out_grad")
      .output("x_grad");
}

// ---- relu_double_grad ----

distributed::SpmdRule ask_relu_double_grad(const RuleArgs& args) {
  return ElementwiseUnaryGradInferSpmd(args.spec(0), args.spec(1));
}

OutputMetas infer_relu_double_grad(const RuleArgs& args) {
  return metas(UnchangedInferMeta(args.meta(0)));
}

OpRule rule_of_relu_double_grad() {
  return OpRule("relu_double_grad", rules::of::relu_double_grad)
      .tensor("out")
      .tensor("grad_x_grad")
      .output("grad_out_grad");
}

// ---- norm_grad ----

distributed::SpmdRule ask_norm_grad(const RuleArgs& args) {
  return NormGradInferSpmd(args.spec(0), args.optional_spec(1));
}

OutputMetas infer_norm_grad(const RuleArgs& args) {
  return metas(GeneralBinaryGradInferMeta(args.meta(0), args.optional_meta(1)));
}

OpRule rule_of_norm_grad() {
  return OpRule("norm_grad", rules::of::norm_grad)
      .tensor("x")
      .tensor("scale", TensorKind::kOptional)
      .tensor("mean")
      .tensor("out_grad")
      .attribute(OpRule::required<float>("epsilon"))
      .attribute(OpRule::optional<bool>("centered", true))
      .output("x_grad")
      .output("scale_grad");
}

}  // namespace

namespace rules::of {
const RuleFunctions matmul = {"MatmulInferSpmd", ask_matmul, infer_matmul};
const RuleFunctions relu = {"ElementwiseUnaryInferSpmd", ask_relu, infer_relu};
const RuleFunctions split = {"SplitInferSpmd", ask_split, infer_split};
const RuleFunctions concat = {"", nullptr, infer_concat};
const RuleFunctions norm = {"NormInferSpmd", ask_norm, infer_norm};
const RuleFunctions nonzero = {"NonZeroInferSpmd", ask_nonzero, infer_nonzero};
const RuleFunctions reshape = {"ReshapeInferSpmd", ask_reshape, infer_reshape};
const RuleFunctions full = {"", nullptr, infer_full};
const RuleFunctions momentum_ = {"MomentumInferSpmd", ask_momentum_, infer_momentum_};
const RuleFunctions bmm = {"... m k, ... k n -> ... m n", ask_bmm, infer_bmm};
const RuleFunctions matmul_grad = {"MatmulGradInferSpmd", ask_matmul_grad, infer_matmul_grad};
const RuleFunctions relu_grad = {"ElementwiseUnaryGradInferSpmd", ask_relu_grad, infer_relu_grad};
const RuleFunctions relu_double_grad = {"ElementwiseUnaryGradInferSpmd", ask_relu_double_grad,
                                        infer_relu_double_grad};
const RuleFunctions norm_grad = {"NormGradInferSpmd", ask_norm_grad, infer_norm_grad};
}  // namespace rules::of

std::vector<OpRule> rules::generated() {
  std::vector<OpRule> list;
  list.push_back(rule_of_matmul());
  list.push_back(rule_of_relu());
  list.push_back(rule_of_split());
  list.push_back(rule_of_concat());
  list.push_back(rule_of_norm());
  list.push_back(rule_of_nonzero());
  list.push_back(rule_of_reshape());
  list.push_back(rule_of_full());
  list.push_back(rule_of_momentum_());
  list.push_back(rule_of_bmm());
  list.push_back(rule_of_matmul_grad());
  list.push_back(rule_of_relu_grad());
  list.push_back(rule_of_relu_double_grad());
  list.push_back(rule_of_norm_grad());
  return list;
}

}  // namespace phi
