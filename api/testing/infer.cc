// Converts a test's description of tensors into arguments of a rule.
#include "api/testing/infer.h"

namespace phi::testing {
namespace {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

OpTensor op_tensor(const std::optional<RuleTensor>& tensor, const ProcessMesh& mesh) {
  if (!tensor) return {};
  return {{tensor->shape, tensor->dtype}, TensorDistAttr::get(mesh, tensor->placements)};
}

OpCallSpec call_spec_of(const OpRule& rule, const ProcessMesh& mesh,
                        const std::vector<RuleArgument>& inputs, const Attributes& attributes) {
  OpCallSpec call_spec{mesh, {}, rule.attributes(attributes)};
  for (const RuleArgument& argument : inputs) {
    auto& tensors = call_spec.inputs.emplace_back();
    for (const auto& tensor : argument.tensors) tensors.push_back(op_tensor(tensor, mesh));
  }
  while (call_spec.inputs.size() < rule.tensors().size() &&
         rule.tensors()[call_spec.inputs.size()].kind == TensorKind::kOptional) {
    call_spec.inputs.push_back({OpTensor()});
  }
  return rule.with_dtypes(call_spec);
}

Inferred inferred(const OpCallSpec& call_spec, const OpInference& inference,
                  const distributed::Conflicts& conflicts) {
  Inferred result{inference.inputs, {}, {}, {}, {}};
  size_t slot = 0;
  for (const auto& argument : call_spec.inputs) {
    for (const OpTensor& tensor : argument) {
      if (tensor.attr != inference.inputs[slot]) result.moves.push_back(slot);
      ++slot;
    }
  }
  for (const auto& output : inference.outputs) {
    result.outputs.push_back(output.attr);
    result.shapes.push_back(output.meta ? output.meta->dims : Dims());
  }
  for (const auto& conflict : conflicts) result.conflicts.push_back(conflict.text);
  return result;
}

}  // namespace

Inferred infer(std::string_view op, const ProcessMesh& mesh,
               const std::vector<RuleArgument>& inputs, const Attributes& attributes) {
  const OpRule& rule = rules::find(op);
  const OpCallSpec call_spec = call_spec_of(rule, mesh, inputs, attributes);
  distributed::Conflicts conflicts;
  return inferred(call_spec, rule.infer(call_spec, &conflicts), conflicts);
}

Inferred infer_backward(std::string_view op, const ProcessMesh& mesh,
                        const std::vector<RuleArgument>& inputs,
                        const std::vector<RuleTensor>& outputs, const Attributes& attributes) {
  const OpRule& rule = rules::find(op);
  const OpCallSpec call_spec = call_spec_of(rule, mesh, inputs, attributes);
  std::vector<OpTensor> given;
  for (const RuleTensor& output : outputs) given.push_back(op_tensor(output, mesh));
  distributed::Conflicts conflicts;
  return inferred(call_spec, rule.infer_backward(call_spec, given, &conflicts), conflicts);
}

}  // namespace phi::testing
