// Operators and gradients of ops.yaml: their run-time definitions, and the functions that run their
// rules and shape functions (api/rules/rule_functions.h).
// Generated. Do not edit; change the YAML and build.
#include "api/rules/op_rule.h"
#include "distributed/spmd/factors.h"
#include "distributed/spmd/rules.h"
#include "phi/core/flop_count.h"
#include "phi/core/launch_args.h"
#include "phi/core/op_def.h"
#include "phi/infermeta/infermeta.h"

namespace phi {

namespace ops {
extern const OpDef matmul;
extern const OpDef relu;
extern const OpDef split;
extern const OpDef concat;
extern const OpDef norm;
extern const OpDef nonzero;
extern const OpDef reshape;
extern const OpDef full;
extern const OpDef momentum_;
extern const OpDef bmm;
extern const OpDef merged_momentum_;
extern const OpDef check_finite_;
extern const OpDef distribute;
extern const OpDef scale_all;
extern const OpDef batch_norm;
extern const OpDef flatten;
}  // namespace ops

// ---- matmul ----

namespace {

distributed::SpmdRule infer_spmd_matmul(const RuleArgs& args) {
  return MatmulInferSpmd(args.spec(0), args.spec(1), args.attr<bool>(0), args.attr<bool>(1));
}

OutputMetas infer_meta_matmul(const RuleArgs& args) {
  return metas(MatmulInferMeta(args.meta(0), args.meta(1), args.attr<bool>(0), args.attr<bool>(1)));
}

OpRule describe_matmul(const RuleFunctions& functions) {
  return OpRule("matmul", functions)
      .tensor("x")
      .tensor("y")
      .attribute(OpRule::optional<bool>("transpose_x", false))
      .attribute(OpRule::optional<bool>("transpose_y", false))
      .output("out");
}

constexpr PartialPropagation kMatmulPropagations[] = {
    {PartialPropagation::Kind::kTerm, -1, -1, 0x3, 0x0}};
constexpr RuleFunctions kMatmulRule = {"MatmulInferSpmd", infer_spmd_matmul, infer_meta_matmul,
                                       describe_matmul, {}, "x * y", kMatmulPropagations};
constexpr const char* kMatmulInputs[] = {"x", "y"};
constexpr int kMatmulTaken[] = {0, 1};
constexpr AttributeDef kMatmulAttributes[] = {{"transpose_x", AttributeKind::kBool, true},
                                              {"transpose_y", AttributeKind::kBool, true}};
constexpr const char* kMatmulOutputs[] = {"out"};
double kMatmulFlops(const LaunchArgs& args) {
  return 2.0 * flop_count::elements(args.shape(2)) * flop_count::extent(args.shape(0),
                                                                        -1) * flop_count::extent(
      args.shape(0), -2) / flop_count::divisor(flop_count::extent(args.shape(2), -2));
}

}  // namespace

const OpDef ops::matmul = {"matmul", kMatmulRule, kMatmulInputs, kMatmulOutputs, kMatmulAttributes,
                           kMatmulTaken, 0, Kernel::named("matmul"), kMatmulFlops};

// ---- relu ----

namespace {

distributed::SpmdRule infer_spmd_relu(const RuleArgs& args) {
  return ElementwiseUnaryInferSpmd(args.spec(0));
}

OutputMetas infer_meta_relu(const RuleArgs& args) {
  return metas(UnchangedInferMeta(args.meta(0)));
}

OpRule describe_relu(const RuleFunctions& functions) {
  return OpRule("relu", functions).tensor("x").output("out");
}

constexpr RuleFunctions kReluRule = {"ElementwiseUnaryInferSpmd", infer_spmd_relu, infer_meta_relu,
                                     describe_relu};
constexpr const char* kReluInputs[] = {"x"};
constexpr int kReluTaken[] = {0};
constexpr const char* kReluOutputs[] = {"out"};

}  // namespace

const OpDef ops::relu = {"relu", kReluRule, kReluInputs, kReluOutputs, {}, kReluTaken, 0,
                         Kernel::named("relu"), nullptr};

// ---- split ----

namespace {

distributed::SpmdRule infer_spmd_split(const RuleArgs& args) {
  return SplitInferSpmd(args.spec(0), args.attr<IntArray>(0), args.attr<Scalar>(1));
}

OutputMetas infer_meta_split(const RuleArgs& args) {
  return metas(SplitInferMeta(args.meta(0), args.attr<IntArray>(0), args.attr<Scalar>(1)));
}

OpRule describe_split(const RuleFunctions& functions) {
  return OpRule("split", functions)
      .tensor("x")
      .attribute(OpRule::required<IntArray>("sections"))
      .attribute(OpRule::optional<Scalar>("axis", 0))
      .output("out");
}

constexpr RuleFunctions kSplitRule = {"SplitInferSpmd", infer_spmd_split, infer_meta_split,
                                      describe_split};
constexpr const char* kSplitInputs[] = {"x"};
constexpr int kSplitTaken[] = {0};
constexpr AttributeDef kSplitAttributes[] = {{"sections", AttributeKind::kInts, true},
                                             {"axis", AttributeKind::kNumber, true}};
constexpr const char* kSplitOutputs[] = {"out"};

}  // namespace

const OpDef ops::split = {"split", kSplitRule, kSplitInputs, kSplitOutputs, kSplitAttributes,
                          kSplitTaken, 0, Kernel::named("split"), nullptr};

// ---- concat ----

namespace {

OutputMetas infer_meta_concat(const RuleArgs& args) {
  return metas(ConcatInferMeta(args.list_meta(0), args.attr<Scalar>(0)));
}

OpRule describe_concat(const RuleFunctions& functions) {
  return OpRule("concat", functions)
      .tensor("x", TensorKind::kList)
      .attribute(OpRule::optional<Scalar>("axis", 0))
      .output("out");
}

constexpr RuleFunctions kConcatRule = {"", nullptr, infer_meta_concat, describe_concat};
constexpr const char* kConcatInputs[] = {"x"};
constexpr int kConcatTaken[] = {0};
constexpr AttributeDef kConcatAttributes[] = {{"axis", AttributeKind::kNumber, true}};
constexpr const char* kConcatOutputs[] = {"out"};

}  // namespace

const OpDef ops::concat = {"concat", kConcatRule, kConcatInputs, kConcatOutputs, kConcatAttributes,
                           kConcatTaken, 0, Kernel::named("concat"), nullptr};

// ---- norm ----

namespace {

distributed::SpmdRule infer_spmd_norm(const RuleArgs& args) {
  return NormInferSpmd(args.spec(0), args.optional_spec(1), args.attr<float>(0));
}

OutputMetas infer_meta_norm(const RuleArgs& args) {
  return metas(NormInferMeta(args.meta(0), args.optional_meta(1), args.attr<float>(0)));
}

OpRule describe_norm(const RuleFunctions& functions) {
  return OpRule("norm", functions)
      .tensor("x")
      .tensor("scale", TensorKind::kOptional)
      .attribute(OpRule::optional<float>("epsilon", 1e-5f))
      .output("out")
      .output("mean");
}

constexpr RuleFunctions kNormRule = {"NormInferSpmd", infer_spmd_norm, infer_meta_norm,
                                     describe_norm};
constexpr const char* kNormInputs[] = {"x", "scale"};
constexpr int kNormTaken[] = {0, 1};
constexpr AttributeDef kNormAttributes[] = {{"epsilon", AttributeKind::kFloat, true}};
constexpr const char* kNormOutputs[] = {"out", "mean"};

}  // namespace

const OpDef ops::norm = {"norm", kNormRule, kNormInputs, kNormOutputs, kNormAttributes, kNormTaken,
                         0, Kernel::named("norm"), nullptr};

// ---- nonzero ----

namespace {

distributed::SpmdRule infer_spmd_nonzero(const RuleArgs& args) {
  return NonZeroInferSpmd(args.spec(0));
}

OutputMetas infer_meta_nonzero(const RuleArgs& args) {
  return metas(NonZeroInferMeta(args.meta(0)));
}

OpRule describe_nonzero(const RuleFunctions& functions) {
  return OpRule("nonzero", functions).tensor("condition").output("out");
}

constexpr RuleFunctions kNonzeroRule = {"NonZeroInferSpmd", infer_spmd_nonzero, infer_meta_nonzero,
                                        describe_nonzero};
constexpr const char* kNonzeroInputs[] = {"condition"};
constexpr int kNonzeroTaken[] = {0};
constexpr const char* kNonzeroOutputs[] = {"out"};

}  // namespace

const OpDef ops::nonzero = {"nonzero", kNonzeroRule, kNonzeroInputs, kNonzeroOutputs, {},
                            kNonzeroTaken, 0, Kernel::named("nonzero"), nullptr};

// ---- reshape ----

namespace {

distributed::SpmdRule infer_spmd_reshape(const RuleArgs& args) {
  return ReshapeInferSpmd(args.spec(0), args.attr<IntArray>(0));
}

OutputMetas infer_meta_reshape(const RuleArgs& args) {
  return metas(ReshapeInferMeta(args.meta(0), args.attr<IntArray>(0)));
}

OpRule describe_reshape(const RuleFunctions& functions) {
  return OpRule("reshape", functions)
      .tensor("x")
      .attribute(OpRule::required<IntArray>("shape"))
      .output("out");
}

constexpr RuleFunctions kReshapeRule = {"ReshapeInferSpmd", infer_spmd_reshape, infer_meta_reshape,
                                        describe_reshape};
constexpr const char* kReshapeInputs[] = {"x"};
constexpr int kReshapeTaken[] = {0};
constexpr AttributeDef kReshapeAttributes[] = {{"shape", AttributeKind::kInts, true}};
constexpr const char* kReshapeOutputs[] = {"out"};

}  // namespace

const OpDef ops::reshape = {"reshape", kReshapeRule, kReshapeInputs, kReshapeOutputs,
                            kReshapeAttributes, kReshapeTaken, 0, Kernel::named("reshape"),
                            nullptr};

// ---- full ----

namespace {

OutputMetas infer_meta_full(const RuleArgs& args) {
  return metas(CreateInferMeta(args.attr<IntArray>(0), args.attr<DataType>(2)));
}

OpRule describe_full(const RuleFunctions& functions) {
  return OpRule("full", functions)
      .attribute(OpRule::required<IntArray>("shape"))
      .attribute(OpRule::required<Scalar>("value"))
      .attribute(OpRule::optional<DataType>("dtype", DataType::FLOAT32))
      .attribute(OpRule::optional<Place>("place", CPUPlace()))
      .output("out");
}

constexpr RuleFunctions kFullRule = {"", nullptr, infer_meta_full, describe_full};
constexpr AttributeDef kFullAttributes[] = {
    {"shape", AttributeKind::kInts, true}, {"value", AttributeKind::kNumber, false},
    {"dtype", AttributeKind::kDataType, true}, {"place", AttributeKind::kPlace, false}};
constexpr const char* kFullOutputs[] = {"out"};

}  // namespace

const OpDef ops::full = {"full", kFullRule, {}, kFullOutputs, kFullAttributes, {}, 0,
                         Kernel::named("full"), nullptr};

// ---- momentum_ ----

namespace {

distributed::SpmdRule infer_spmd_momentum_(const RuleArgs& args) {
  return MomentumInferSpmd(args.spec(0), args.spec(1), args.spec(2), args.optional_spec(3));
}

OutputMetas infer_meta_momentum_(const RuleArgs& args) {
  return metas(MomentumInferMeta(args.meta(0), args.meta(1), args.meta(2), args.optional_meta(3)));
}

OpRule describe_momentum_(const RuleFunctions& functions) {
  return OpRule("momentum_", functions)
      .tensor("param")
      .tensor("grad")
      .tensor("velocity")
      .tensor("master_param", TensorKind::kOptional)
      .attribute(OpRule::required<float>("mu"))
      .output("param_out")
      .output("velocity_out")
      .output("master_param_out");
}

constexpr RuleFunctions kMomentum_Rule = {"MomentumInferSpmd", infer_spmd_momentum_,
                                          infer_meta_momentum_, describe_momentum_};
constexpr const char* kMomentum_Inputs[] = {"param", "grad", "velocity", "master_param"};
constexpr int kMomentum_Taken[] = {0, 1, 2, 3};
constexpr AttributeDef kMomentum_Attributes[] = {{"mu", AttributeKind::kFloat, false}};
constexpr const char* kMomentum_Outputs[] = {"param_out", "velocity_out", "master_param_out"};

}  // namespace

const OpDef ops::momentum_ = {"momentum_", kMomentum_Rule, kMomentum_Inputs, kMomentum_Outputs,
                              kMomentum_Attributes, kMomentum_Taken, 0, Kernel::named("momentum"),
                              nullptr};

// ---- bmm ----

namespace {

distributed::SpmdRule infer_spmd_bmm(const RuleArgs& args) {
  const auto batch = distributed::Factors::batch(args.spec(0).ndim() - 2, args.spec(1).ndim() - 2);
  return distributed::Factors()
      .input(args.spec(0), batch, "mk")
      .input(args.spec(1), batch, "kn")
      .output(batch, "mn");
}

OutputMetas infer_meta_bmm(const RuleArgs& args) {
  return metas(BmmInferMeta(args.meta(0), args.meta(1)));
}

OpRule describe_bmm(const RuleFunctions& functions) {
  return OpRule("bmm", functions).tensor("x").tensor("y").output("out");
}

constexpr RuleFunctions kBmmRule = {"... m k, ... k n -> ... m n", infer_spmd_bmm, infer_meta_bmm,
                                    describe_bmm};
constexpr const char* kBmmInputs[] = {"x", "y"};
constexpr int kBmmTaken[] = {0, 1};
constexpr const char* kBmmOutputs[] = {"out"};

}  // namespace

const OpDef ops::bmm = {"bmm", kBmmRule, kBmmInputs, kBmmOutputs, {}, kBmmTaken, 0,
                        Kernel::named("bmm"), nullptr};

// ---- merged_momentum_ ----

namespace {

distributed::SpmdRule infer_spmd_merged_momentum_(const RuleArgs& args) {
  return MergedMomentumInferSpmd(args.list_spec(0), args.list_spec(1), args.list_spec(2),
                                 args.list_spec(3));
}

OutputMetas infer_meta_merged_momentum_(const RuleArgs& args) {
  return metas(MergedMomentumInferMeta(args.list_meta(0), args.list_meta(1), args.list_meta(2),
                                       args.list_meta(3)));
}

OpRule describe_merged_momentum_(const RuleFunctions& functions) {
  return OpRule("merged_momentum_", functions)
      .tensor("param", TensorKind::kList)
      .tensor("grad", TensorKind::kList)
      .tensor("velocity", TensorKind::kList)
      .tensor("master_param", TensorKind::kList)
      .attribute(OpRule::required<float>("mu"))
      .output("param_out")
      .output("velocity_out")
      .output("master_param_out");
}

constexpr RuleFunctions kMergedMomentum_Rule = {
    "MergedMomentumInferSpmd", infer_spmd_merged_momentum_, infer_meta_merged_momentum_,
    describe_merged_momentum_};
constexpr const char* kMergedMomentum_Inputs[] = {"param", "grad", "velocity", "master_param"};
constexpr int kMergedMomentum_Taken[] = {0, 1, 2, 3};
constexpr AttributeDef kMergedMomentum_Attributes[] = {{"mu", AttributeKind::kFloat, false}};
constexpr const char* kMergedMomentum_Outputs[] = {"param_out", "velocity_out", "master_param_out"};

}  // namespace

const OpDef ops::merged_momentum_ = {"merged_momentum_", kMergedMomentum_Rule,
                                     kMergedMomentum_Inputs, kMergedMomentum_Outputs,
                                     kMergedMomentum_Attributes, kMergedMomentum_Taken, 0,
                                     Kernel::named("merged_momentum"), nullptr};

// ---- check_finite_ ----

namespace {

distributed::SpmdRule infer_spmd_check_finite_(const RuleArgs& args) {
  return CheckFiniteInferSpmd(args.list_spec(0), args.spec(1));
}

OutputMetas infer_meta_check_finite_(const RuleArgs& args) {
  return metas(CheckFiniteInferMeta(args.list_meta(0), args.meta(1)));
}

OpRule describe_check_finite_(const RuleFunctions& functions) {
  return OpRule("check_finite_", functions)
      .tensor("x", TensorKind::kList)
      .tensor("scale")
      .output("out")
      .output("found");
}

constexpr RuleFunctions kCheckFinite_Rule = {"CheckFiniteInferSpmd", infer_spmd_check_finite_,
                                             infer_meta_check_finite_, describe_check_finite_};
constexpr const char* kCheckFinite_Inputs[] = {"x", "scale"};
constexpr int kCheckFinite_Taken[] = {0, 1};
constexpr const char* kCheckFinite_Outputs[] = {"out", "found"};

}  // namespace

const OpDef ops::check_finite_ = {"check_finite_", kCheckFinite_Rule, kCheckFinite_Inputs,
                                  kCheckFinite_Outputs, {}, kCheckFinite_Taken, 0,
                                  Kernel::named("check_finite"), nullptr};

// ---- distribute ----

namespace {

distributed::SpmdRule infer_spmd_distribute(const RuleArgs& args) {
  return DistributeInferSpmd(args.spec(0), args.list_spec(1), args.attr<int>(0));
}

OutputMetas infer_meta_distribute(const RuleArgs& args) {
  return metas(DistributeInferMeta(args.meta(0), args.list_meta(1), args.attr<int>(0)));
}

OpRule describe_distribute(const RuleFunctions& functions) {
  return OpRule("distribute", functions)
      .tensor("rois")
      .tensor("levels", TensorKind::kList)
      .attribute(OpRule::optional<int>("least", 2))
      .output("parts")
      .output("counts")
      .output("order");
}

constexpr RuleFunctions kDistributeRule = {"DistributeInferSpmd", infer_spmd_distribute,
                                           infer_meta_distribute, describe_distribute};
constexpr const char* kDistributeInputs[] = {"rois", "levels"};
constexpr int kDistributeTaken[] = {0, 1};
constexpr AttributeDef kDistributeAttributes[] = {{"least", AttributeKind::kInt, true}};
constexpr const char* kDistributeOutputs[] = {"parts", "counts", "order"};

}  // namespace

const OpDef ops::distribute = {"distribute", kDistributeRule, kDistributeInputs, kDistributeOutputs,
                               kDistributeAttributes, kDistributeTaken, 0,
                               Kernel::named("distribute"), nullptr};

// ---- scale_all ----

namespace {

OutputMetas infer_meta_scale_all(const RuleArgs& args) {
  return metas(UnchangedListInferMeta(args.list_meta(0)));
}

OpRule describe_scale_all(const RuleFunctions& functions) {
  return OpRule("scale_all", functions)
      .tensor("xs", TensorKind::kList)
      .attribute(OpRule::required<float>("factor"))
      .output("out");
}

constexpr RuleFunctions kScaleAllRule = {"", nullptr, infer_meta_scale_all, describe_scale_all};
constexpr const char* kScaleAllInputs[] = {"xs"};
constexpr int kScaleAllTaken[] = {0};
constexpr AttributeDef kScaleAllAttributes[] = {{"factor", AttributeKind::kFloat, false}};
constexpr const char* kScaleAllOutputs[] = {"out"};

}  // namespace

const OpDef ops::scale_all = {"scale_all", kScaleAllRule, kScaleAllInputs, kScaleAllOutputs,
                              kScaleAllAttributes, kScaleAllTaken, 0, Kernel::named("scale_all"),
                              nullptr};

// ---- batch_norm ----

namespace {

OutputMetas infer_meta_batch_norm(const RuleArgs& args) {
  return metas(BatchNormInferMeta(args.meta(0), args.meta(1), args.optional_meta(3)));
}

OpRule describe_batch_norm(const RuleFunctions& functions) {
  return OpRule("batch_norm", functions)
      .tensor("x")
      .tensor("mean")
      .tensor("more", TensorKind::kList)
      .tensor("variance", TensorKind::kOptional)
      .attribute(OpRule::required<float>("momentum"))
      .attribute(OpRule::optional<std::optional<int>>("seed", std::nullopt))
      .output("out")
      .output("mean_out")
      .output("variance_out")
      .output("saved");
}

constexpr RuleFunctions kBatchNormRule = {"", nullptr, infer_meta_batch_norm, describe_batch_norm};
constexpr const char* kBatchNormInputs[] = {"x", "mean", "more", "variance"};
constexpr int kBatchNormTaken[] = {0, 1, 2, 3};
constexpr AttributeDef kBatchNormAttributes[] = {{"momentum", AttributeKind::kFloat, false},
                                                 {"seed", AttributeKind::kInt, false}};
constexpr const char* kBatchNormOutputs[] = {"out", "mean_out", "variance_out", "saved"};

}  // namespace

const OpDef ops::batch_norm = {"batch_norm", kBatchNormRule, kBatchNormInputs, kBatchNormOutputs,
                               kBatchNormAttributes, kBatchNormTaken, 0,
                               Kernel::named("batch_norm"), nullptr};

// ---- flatten ----

namespace {

OutputMetas infer_meta_flatten(const RuleArgs& args) {
  return metas(FlattenInferMeta(args.meta(0), args.attr<int>(0)));
}

OpRule describe_flatten(const RuleFunctions& functions) {
  return OpRule("flatten", functions)
      .tensor("x")
      .attribute(OpRule::optional<int>("axis", 0))
      .output("out")
      .output("shape");
}

constexpr RuleFunctions kFlattenRule = {"", nullptr, infer_meta_flatten, describe_flatten};
constexpr const char* kFlattenInputs[] = {"x"};
constexpr int kFlattenTaken[] = {0};
constexpr AttributeDef kFlattenAttributes[] = {{"axis", AttributeKind::kInt, true}};
constexpr const char* kFlattenOutputs[] = {"out", "shape"};

}  // namespace

const OpDef ops::flatten = {"flatten", kFlattenRule, kFlattenInputs, kFlattenOutputs,
                            kFlattenAttributes, kFlattenTaken, 0, Kernel::named("shape_of"),
                            nullptr};

}  // namespace phi
