// What a rule leaves open: the answer where there is none, and for inputs that it is not shown.
#include "api/rules/rule_functions.h"

#include "phi/common/errors.h"

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

SpmdResult completed(const RuleFunctions& functions, const RuleArgs& args, SpmdResult given,
                     size_t num_outputs) {
  const std::vector<TensorSpec> slots = args.slots();
  PHI_CHECK(
      given.inputs.size() <= slots.size() && given.outputs.size() == num_outputs,
      errors::Internal("rule {} answers for {} inputs and {} outputs; the call has {} and {}.",
                       functions.name, given.inputs.size(), given.outputs.size(), slots.size(),
                       num_outputs));
  SpmdResult result;
  for (size_t i = 0; i < slots.size(); ++i) {
    result.inputs.push_back(slots[i].absent()         ? nullptr
                            : i < given.inputs.size() ? given.inputs[i]
                                                      : TensorDistAttr::replicated(args.mesh()));
  }
  result.outputs = std::move(given.outputs);
  return result;
}

}  // namespace

std::vector<TensorSpec> RuleArgs::slots() const {
  std::vector<TensorSpec> slots;
  for (const Argument& argument : arguments_)
    slots.insert(slots.end(), argument.specs.begin(), argument.specs.end());
  return slots;
}

SpmdResult RuleFunctions::forward(const RuleArgs& args, size_t num_outputs,
                                  distributed::Conflicts* conflicts) const {
  return completed(*this, args, ask ? ask(args).forward(conflicts) : replicated(args, num_outputs),
                   num_outputs);
}

SpmdResult RuleFunctions::backward(const RuleArgs& args, std::span<const TensorSpec> outputs,
                                   distributed::Conflicts* conflicts) const {
  return completed(*this, args,
                   ask ? ask(args).backward(outputs, conflicts) : replicated(args, outputs.size()),
                   outputs.size());
}

}  // namespace phi
