// Paddle's optimizer steps as factors: states follow param, scalars are whole.
#include "distributed/spmd/rules/fused_optimizer.h"

#include <initializer_list>
#include <vector>

#include "distributed/spmd/rules/factor_names.h"
#include "distributed/spmd/sharding.h"

namespace phi::distributed {
namespace {

// Names of a tensor whose dims are never split.
FactorNames whole_dims(const TensorSpec& x) {
  FactorNames names;
  for (int d = 0; d < x.ndim(); ++d) names.push_back('1');
  return names;
}

// Adds the inputs and outputs of a step in signature order.
class StepRuleBuilder {
 public:
  explicit StepRuleBuilder(const TensorSpec& param) : names_(dim_names(param.ndim())) {
    rule_.input(param, names_);
  }
  StepRuleBuilder& in(const TensorSpec& alike) {
    rule_.input(alike, names_).last_input_follows();
    return *this;
  }
  StepRuleBuilder& in(const TensorSpec* alike) {
    if (alike) return in(*alike);
    rule_.absent_input();
    return *this;
  }
  StepRuleBuilder& number(const TensorSpec& number) {
    rule_.input(number, whole_dims(number));
    return *this;
  }
  StepRuleBuilder& out() {
    rule_.output(names_);
    return *this;
  }
  StepRuleBuilder& out(const TensorSpec* of) {
    if (of) return out();
    rule_.absent_output();
    return *this;
  }
  /// An output that is equal on all ranks, whichever part of param they hold.
  StepRuleBuilder& number_out(const TensorSpec& of) {
    rule_.output(whole_dims(of)).combined(names_);
    return *this;
  }
  explicit(false) operator SpmdRule() const { return rule_; }

 private:
  std::string_view names_;
  Factors rule_;
};

// A rule body for tensors that each follow one of `leaders`, or are whole. Partial sums are
// reduced.
class GroupedRule : public SpmdRule::CustomRule {
 public:
  static constexpr int kWhole = -1;

  explicit GroupedRule(std::span<const TensorSpec> leaders) {
    for (const TensorSpec& leader : leaders) {
      Sharding sharding = Sharding::of(leader);
      sharding.partial_mask = 0;
      leaders_.push_back(sharding.attr(leader.attr->mesh()));
    }
    whole_ = TensorDistAttr::replicated(leaders[0].attr->mesh());
  }
  void in(std::span<const TensorSpec> list) { add(&inputs_, list.size()); }
  void out(std::span<const TensorSpec> list) { add(&outputs_, list.size()); }
  void whole_in(size_t count) { inputs_.insert(inputs_.end(), count, kWhole); }
  void whole_out(size_t count) { outputs_.insert(outputs_.end(), count, kWhole); }

  SpmdResult forward() const override { return answer(leaders_); }
  // Outputs overwrite inputs, so both have one sharding.
  SpmdResult backward(std::span<const TensorSpec> outputs) const override {
    PHI_CHECK(outputs.size() == outputs_.size(),
              errors::InvalidArgument("{} outputs are given, the rule has {}.", outputs.size(),
                                      outputs_.size()));
    std::vector<const TensorDistAttr*> leaders = leaders_;
    for (size_t i = 0; i < leaders.size(); ++i) {
      Sharding sharding = Sharding::of(outputs[i]);
      sharding.partial_mask = 0;
      leaders[i] = sharding.attr(outputs[i].attr->mesh());
    }
    return answer(leaders);
  }

 private:
  static void add(std::vector<int>* slots, size_t count) {
    for (size_t i = 0; i < count; ++i) slots->push_back(static_cast<int>(i));
  }
  SpmdResult answer(const std::vector<const TensorDistAttr*>& leaders) const {
    SpmdResult result;
    const auto attr = [&](int of) { return of == kWhole ? whole_ : leaders[of]; };
    for (int of : inputs_) result.inputs.push_back(attr(of));
    for (int of : outputs_) result.outputs.push_back(attr(of));
    return result;
  }

  std::vector<const TensorDistAttr*> leaders_;
  const TensorDistAttr* whole_;
  std::vector<int> inputs_;  // the leader of each input
  std::vector<int> outputs_;
};

SpmdRule groups(std::span<const TensorSpec> leaders, auto&& declare) {
  PHI_CHECK(!leaders.empty(), errors::InvalidArgument("the list of params is empty."));
  auto body = std::make_shared<GroupedRule>(leaders);
  declare(*body);
  return SpmdRule(std::shared_ptr<const SpmdRule::CustomRule>(std::move(body)));
}

}  // namespace

SpmdRule DecayedAdagradInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                                 const TensorSpec& moment) {
  return StepRuleBuilder(param).in(grad).in(moment).out().out();
}

SpmdRule FtrlInferSpmd(const TensorSpec& param, const TensorSpec& squared_accumulator,
                       const TensorSpec& linear_accumulator, const TensorSpec& grad) {
  return StepRuleBuilder(param)
      .in(squared_accumulator)
      .in(linear_accumulator)
      .in(grad)
      .out()
      .out()
      .out();
}

SpmdRule RmspropInferSpmd(const TensorSpec& param, const TensorSpec& mean_square,
                          const TensorSpec& grad, const TensorSpec& moment,
                          const TensorSpec* mean_grad, const TensorSpec* master_param) {
  StepRuleBuilder rule(param);
  rule.in(mean_square).in(grad).in(moment).in(mean_grad).in(master_param);
  return rule.out().out().out().out(mean_grad).out(master_param);
}

SpmdRule AdamInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                       const TensorSpec& learning_rate, const TensorSpec& moment1,
                       const TensorSpec& moment2, const TensorSpec* moment2_max,
                       const TensorSpec& beta1_pow, const TensorSpec& beta2_pow,
                       const TensorSpec* master_param) {
  StepRuleBuilder rule(param);
  rule.in(grad).number(learning_rate).in(moment1).in(moment2).in(moment2_max);
  rule.number(beta1_pow).number(beta2_pow).in(master_param);
  rule.out().out().out().out(moment2_max).number_out(beta1_pow).number_out(beta2_pow);
  return rule.out(master_param);
}

SpmdRule LambInferSpmd(const TensorSpec& param, const TensorSpec& grad,
                       const TensorSpec& learning_rate, const TensorSpec& moment1,
                       const TensorSpec& moment2, const TensorSpec& beta1_pow,
                       const TensorSpec& beta2_pow, const TensorSpec* master_param) {
  StepRuleBuilder rule(param);
  rule.in(grad).number(learning_rate).in(moment1).in(moment2).number(beta1_pow).number(beta2_pow);
  rule.in(master_param).out().out().out().number_out(beta1_pow).number_out(beta2_pow);
  return rule.out(master_param);
}

SpmdRule NadamInferSpmd(const TensorSpec& param, const TensorSpec& grad, const TensorSpec& number1,
                        const TensorSpec& number2, const TensorSpec& number3,
                        const TensorSpec& moment1, const TensorSpec& moment2,
                        const TensorSpec* master_param) {
  StepRuleBuilder rule(param);
  rule.in(grad).number(number1).number(number2).number(number3).in(moment1).in(moment2);
  rule.in(master_param).out().number_out(number1).number_out(number2).number_out(number3);
  return rule.out().out().out(master_param);
}

SpmdRule AverageAccumulatesInferSpmd(const TensorSpec& param, const TensorSpec& in_sum_1,
                                     const TensorSpec& in_sum_2, const TensorSpec& in_sum_3,
                                     const TensorSpec& in_num_accumulates,
                                     const TensorSpec& in_old_num_accumulates,
                                     const TensorSpec& in_num_updates) {
  StepRuleBuilder rule(param);
  rule.in(in_sum_1).in(in_sum_2).in(in_sum_3).out().out().out();
  for (const TensorSpec* count : {&in_num_accumulates, &in_old_num_accumulates, &in_num_updates})
    rule.number(*count).number_out(*count);
  return rule;
}

SpmdRule MergedMomentumInferSpmd(std::span<const TensorSpec> param,
                                 std::span<const TensorSpec> grad,
                                 std::span<const TensorSpec> velocity,
                                 std::span<const TensorSpec> learning_rate,
                                 std::span<const TensorSpec> master_param) {
  return groups(param, [&](GroupedRule& rule) {
    rule.in(param);
    rule.in(grad);
    rule.in(velocity);
    rule.whole_in(learning_rate.size());
    rule.in(master_param);
    for (const auto& list : {param, velocity, master_param}) rule.out(list);
  });
}

SpmdRule MergedAdamInferSpmd(std::span<const TensorSpec> param, std::span<const TensorSpec> grad,
                             std::span<const TensorSpec> learning_rate,
                             std::span<const TensorSpec> moment1,
                             std::span<const TensorSpec> moment2,
                             std::span<const TensorSpec> moment2_max,
                             std::span<const TensorSpec> beta1_pow,
                             std::span<const TensorSpec> beta2_pow,
                             std::span<const TensorSpec> master_param) {
  return groups(param, [&](GroupedRule& rule) {
    rule.in(param);
    rule.in(grad);
    rule.whole_in(learning_rate.size());
    for (const auto& list : {moment1, moment2, moment2_max}) rule.in(list);
    rule.whole_in(beta1_pow.size() + beta2_pow.size());
    rule.in(master_param);
    for (const auto& list : {param, moment1, moment2, moment2_max}) rule.out(list);
    rule.whole_out(beta1_pow.size() + beta2_pow.size());
    rule.out(master_param);
  });
}

SpmdRule FusedAdamInferSpmd(std::span<const TensorSpec> params, std::span<const TensorSpec> grads,
                            const TensorSpec& learning_rate, std::span<const TensorSpec> moments1,
                            std::span<const TensorSpec> moments2,
                            std::span<const TensorSpec> moments2_max,
                            std::span<const TensorSpec> beta1_pows,
                            std::span<const TensorSpec> beta2_pows,
                            std::span<const TensorSpec> master_params) {
  return MergedAdamInferSpmd(params, grads, {&learning_rate, 1}, moments1, moments2, moments2_max,
                             beta1_pows, beta2_pows, master_params);
}

SpmdRule CheckFiniteAndUnscaleInferSpmd(std::span<const TensorSpec> x, const TensorSpec&) {
  return groups(x, [&](GroupedRule& rule) {
    rule.in(x);
    rule.whole_in(1);
    rule.out(x);
    rule.whole_out(1);
  });
}

SpmdRule UpdateLossScalingInferSpmd(std::span<const TensorSpec> x, const TensorSpec&,
                                    const TensorSpec&, const TensorSpec&, const TensorSpec&) {
  return groups(x, [&](GroupedRule& rule) {
    rule.in(x);
    rule.whole_in(4);
    rule.out(x);
    rule.whole_out(3);
  });
}

SpmdRule CheckNumericsInferSpmd(const TensorSpec& tensor) {
  const auto names = dim_names(tensor.ndim());
  return Factors().input(tensor, names).output("1").output("1").combined(names);
}

}  // namespace phi::distributed
