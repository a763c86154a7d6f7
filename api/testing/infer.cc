// Converts a test's description of tensors into arguments of a rule.
#include "api/testing/infer.h"

namespace phi::testing {
namespace {

using distributed::ProcessMesh;
using distributed::TensorDistAttr;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

OpTensor op_tensor(const std::optional<AskedTensor>& tensor, const ProcessMesh& mesh) {
  if (!tensor) return {};
  return {{tensor->shape, tensor->dtype}, TensorDistAttr::get(mesh, tensor->placements)};
}

OpQuestion question_of(const OpRule& rule, const ProcessMesh& mesh,
                       const std::vector<AskedArgument>& inputs, const Attributes& attributes) {
  OpQuestion question{mesh, {}, rule.attributes(attributes)};
  for (const AskedArgument& argument : inputs) {
    auto& tensors = question.inputs.emplace_back();
    for (const auto& tensor : argument.tensors) tensors.push_back(op_tensor(tensor, mesh));
  }
  while (question.inputs.size() < rule.tensors().size() &&
         rule.tensors()[question.inputs.size()].kind == TensorKind::kOptional) {
    question.inputs.push_back({OpTensor()});
  }
  return rule.with_dtypes(question);
}

Inferred inferred(const OpQuestion& question, const OpAnswer& answer,
                  const distributed::Conflicts& conflicts) {
  Inferred result{answer.inputs, {}, {}, {}, {}};
  size_t slot = 0;
  for (const auto& argument : question.inputs) {
    for (const OpTensor& tensor : argument) {
      if (tensor.attr != answer.inputs[slot]) result.moves.push_back(slot);
      ++slot;
    }
  }
  for (const auto& output : answer.outputs) {
    result.outputs.push_back(output.attr);
    result.shapes.push_back(output.meta ? output.meta->dims : Dims());
  }
  for (const auto& conflict : conflicts) result.conflicts.push_back(conflict.text);
  return result;
}

}  // namespace

Inferred infer(std::string_view op, const ProcessMesh& mesh,
               const std::vector<AskedArgument>& inputs, const Attributes& attributes) {
  const OpRule& rule = rules::find(op);
  const OpQuestion question = question_of(rule, mesh, inputs, attributes);
  distributed::Conflicts conflicts;
  return inferred(question, rule.answer(question, &conflicts), conflicts);
}

Inferred infer_backward(std::string_view op, const ProcessMesh& mesh,
                        const std::vector<AskedArgument>& inputs,
                        const std::vector<AskedTensor>& outputs, const Attributes& attributes) {
  const OpRule& rule = rules::find(op);
  const OpQuestion question = question_of(rule, mesh, inputs, attributes);
  std::vector<OpTensor> given;
  for (const AskedTensor& output : outputs) given.push_back(op_tensor(output, mesh));
  distributed::Conflicts conflicts;
  return inferred(question, rule.answer_backward(question, given, &conflicts), conflicts);
}

}  // namespace phi::testing
