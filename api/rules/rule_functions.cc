// Completes a rule's result: for operators without a rule, and for inputs that a rule does not
// receive.
#include "api/rules/rule_functions.h"

#include "phi/common/errors.h"
#include "phi/core/attribute_types.h"

namespace phi {

using distributed::SpmdResult;
using distributed::TensorDistAttr;
using distributed::TensorSpec;

namespace {

SpmdResult replicated(const RuleArgs& args, size_t num_outputs) {
  SpmdResult result;
  for (size_t i = 0; i < num_outputs; ++i)
    result.outputs.push_back(TensorDistAttr::replicated(args.mesh()));
  return result;
}

// The slots that the rule infers, in its order. `count`: the number of inputs in its result.
std::vector<size_t> shown_slots(const RuleFunctions& functions, const RuleArgs& args,
                                size_t count) {
  std::vector<size_t> slots;
  for (int arg : functions.shown) {
    const auto [first, size] = args.slots_of(arg);
    for (size_t i = 0; i < size; ++i) slots.push_back(first + i);
  }
  if (functions.shown.empty()) {
    for (size_t i = 0; i < count; ++i) slots.push_back(i);
  }
  return slots;
}

SpmdResult completed(const RuleFunctions& functions, const RuleArgs& args, SpmdResult given,
                     size_t num_outputs) {
  const std::vector<size_t> shown = shown_slots(functions, args, given.inputs.size());
  const std::vector<TensorSpec> slots = args.slots();
  PHI_CHECK(given.inputs.size() == shown.size() && shown.size() <= slots.size() &&
                given.outputs.size() == num_outputs,
            errors::Internal("rule {} infers {} inputs and {} outputs; the call has {} and {}.",
                             functions.name, given.inputs.size(), given.outputs.size(),
                             slots.size(), num_outputs));
  SpmdResult result;
  for (const TensorSpec& slot : slots) {
    result.inputs.push_back(slot.absent() ? nullptr : TensorDistAttr::replicated(args.mesh()));
  }
  for (size_t i = 0; i < shown.size(); ++i) {
    if (!slots[shown[i]].absent()) result.inputs[shown[i]] = given.inputs[i];
  }
  result.outputs = std::move(given.outputs);
  return result;
}

}  // namespace

template <typename T>
T RuleArgs::attr(int i) const {
  return attribute_from<T>(attributes_[static_cast<size_t>(i)]);
}

#define PHI_TAKE_ATTRIBUTE(T)              \
  template T RuleArgs::attr<T>(int) const; \
  template std::optional<T> RuleArgs::attr<std::optional<T>>(int) const;
PHI_EACH_DECIDING_ATTRIBUTE_TYPE(PHI_TAKE_ATTRIBUTE)

std::vector<TensorSpec> RuleArgs::slots() const {
  std::vector<TensorSpec> slots;
  for (const Argument& argument : arguments_)
    slots.insert(slots.end(), argument.specs.begin(), argument.specs.end());
  return slots;
}

std::pair<size_t, size_t> RuleArgs::slots_of(int arg) const {
  size_t first = 0;
  for (int i = 0; i < arg; ++i) first += arguments_[static_cast<size_t>(i)].specs.size();
  return {first, arguments_[static_cast<size_t>(arg)].specs.size()};
}

void RuleArgs::place(size_t slot, const TensorDistAttr* attr) {
  for (Argument& argument : arguments_) {
    if (slot < argument.specs.size()) {
      argument.specs[slot].attr = attr;
      return;
    }
    slot -= argument.specs.size();
  }
}

SpmdResult RuleFunctions::forward(const RuleArgs& args, size_t num_outputs,
                                  distributed::Conflicts* conflicts) const {
  SpmdResult inference = forward_by_rule(args, num_outputs, conflicts);
  return propagations.empty() ? inference : propagate_partials(*this, args, std::move(inference));
}

SpmdResult RuleFunctions::forward_by_rule(const RuleArgs& args, size_t num_outputs,
                                          distributed::Conflicts* conflicts) const {
  return completed(*this, args,
                   infer_spmd ? infer_spmd(args).forward(conflicts) : replicated(args, num_outputs),
                   num_outputs);
}

SpmdResult RuleFunctions::backward(const RuleArgs& args, std::span<const TensorSpec> outputs,
                                   distributed::Conflicts* conflicts) const {
  return completed(
      *this, args,
      infer_spmd ? infer_spmd(args).backward(outputs, conflicts) : replicated(args, outputs.size()),
      outputs.size());
}

}  // namespace phi
