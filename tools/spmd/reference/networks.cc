// The reference's normalisations of rows, losses and attention.
#include "distributed/spmd/rules.h"
#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/sharding.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::FactorNames;
using distributed::Factors;
using distributed::Sharding;
using distributed::SpmdRule;
using distributed::TensorSpec;

const char* missing_weights(const RuleArgs& args, Direction direction) {
  const bool both = args.optional_spec(1) != nullptr && args.optional_spec(2) != nullptr;
  return direction == Direction::kForward && !both ? "scale and bias need one dim each." : nullptr;
}

const char* split_classes(const RuleArgs& args, Direction direction) {
  const TensorSpec& x = args.spec(0);
  const bool soft = args.attr<bool>(0);
  const bool use_softmax = args.attr<bool>(1);
  const int classes = distributed::normal_axis(args.attr<int>(4), x.ndim());
  if (direction != Direction::kForward || (!soft && use_softmax && classes == x.ndim() - 1)) {
    return nullptr;
  }
  const Sharding logits = Sharding::of(x);
  uint32_t split = logits.dims[classes].mask();
  if (soft) split |= Sharding::of(args.spec(1)).dims[classes].mask() & ~logits.shard_mask();
  return split != 0 ? "the classes are split, which needs index labels, use_softmax and classes in "
                      "the last dim."
                    : nullptr;
}
bool without_softmax(const RuleArgs& args) { return !args.attr<bool>(1); }

// Without y, the reference allows a split of the last dim, which contains both halves.
SpmdRule swiglu(const TensorSpec& x, const TensorSpec* y) {
  if (y != nullptr) return distributed::SwiGLUInferSpmd(x, y);
  const auto names = distributed::dim_names(x.ndim());
  return Factors().input(x, names).absent_input().output(names);
}

// With several labels per sample, their dim may be split, and the loss counts as complete.
SpmdRule multi_label_cross_entropy(const TensorSpec& x, const TensorSpec& label,
                                   const TensorSpec& smooth_weight, int64_t, bool sum, int64_t,
                                   int64_t) {
  const auto names = distributed::dim_names(x.ndim());
  FactorNames labels(names), loss(names);
  labels[x.ndim() - 1] = 'z';
  loss[x.ndim() - 1] = sum ? '1' : 'z';
  Factors rule;
  rule.input(x, names).input(label, labels).input(smooth_weight, labels).output(names).output(loss);
  return rule.combined("z").combined(names.substr(names.size() - 1));
}

}  // namespace

ReferenceRules network_reference_rules() {
  const Policies cross_entropy = {.refusal = split_classes,
                                  .keeps_partial = true,
                                  .last_output_first = true,
                                  .lacks_first_output = without_softmax};
  return {
      {rule_variant("swiglu", {"", infer_rule<swiglu>}, "x, y?"),
       rule_variant("c_softmax_with_cross_entropy",
                    {"", infer_rule<distributed::CSoftmaxWithCrossEntropyInferSpmd>}, "x, label",
                    "ignore_index: int, rank: int, nranks: int"),
       rule_variant("c_softmax_with_multi_label_cross_entropy",
                    {"", infer_rule<multi_label_cross_entropy>}, "x, label, smooth_weight",
                    "ignore_index: int, sum_multi_label_loss: bool, rank: int, nranks: int")},
      {{"log_softmax", "softmax"},
       {"swiglu", "swiglu"},
       {"fused_rms_norm", "rms_norm"},
       {"layer_norm", "", {.refusal = missing_weights, .keeps_partial = true}},
       {"flash_attention", "", {.scalars_are_absent = 0b1010}},
       {"cross_entropy_with_softmax softmax_with_cross_entropy", "cross_entropy_with_softmax",
        cross_entropy},
       {"c_softmax_with_cross_entropy", "c_softmax_with_cross_entropy"},
       {"c_softmax_with_multi_label_cross_entropy", "c_softmax_with_multi_label_cross_entropy"}}};
}

}  // namespace phi::spmd_tool
