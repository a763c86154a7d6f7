// Runs a rule on a case and compares the result.
#include "tools/spmd/case.h"

#include <fmt/ranges.h>

#include <algorithm>

#include "distributed/spmd/sharding.h"
#include "phi/common/errors.h"
#include "tools/spmd/reference/rule_variant.h"

namespace phi::spmd_tool {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::SpmdResult;
using distributed::TensorDistAttr;
using distributed::TensorSpec;

distributed::ReduceKind kind_of(const TensorText& text, size_t i) {
  return text.partial_kinds.empty() ? distributed::ReduceKind::kSum : text.partial_kinds[i];
}

// An optional tensor without dims is absent.
OpTensor case_tensor_of(const TensorText& text, TensorKind kind, const ProcessMesh& mesh) {
  const bool absent =
      kind == TensorKind::kOptional && text.shape.empty() && text.dims_mapping.empty();
  if (absent) return {};
  return {{Dims(text.shape), DataType::FLOAT32}, attr_of(text, mesh)};
}

std::vector<TensorSpec> outputs_of(const CaseCall& call, const ProcessMesh& mesh) {
  std::vector<TensorSpec> outputs;
  for (const ArgumentText& argument : call.outputs) {
    for (const TensorText& text : argument.tensors) {
      outputs.push_back({Dims(text.shape), attr_of(text, mesh)});
    }
  }
  return outputs;
}

// The value of an attribute that a case does not specify: false, 0 or empty.
AttributeValue zero_of(AttributeKind kind) {
  switch (kind) {
    case AttributeKind::kBool:
      return false;
    case AttributeKind::kInt:
    case AttributeKind::kNumber:
      return int64_t{0};
    case AttributeKind::kFloat:
      return 0.0;
    case AttributeKind::kString:
    case AttributeKind::kPlace:
      return std::string();
    case AttributeKind::kDataType:
      return DataType::UNDEFINED;
    case AttributeKind::kInts:
      return std::vector<int64_t>();
    case AttributeKind::kFloats:
      return std::vector<double>();
    case AttributeKind::kStrings:
      return std::vector<std::string>();
  }
  return false;
}

// `attr` with the partial mesh dims of `given` instead of its own.
const TensorDistAttr* with_partial_of(const TensorDistAttr* attr, const TensorDistAttr* given) {
  if (attr == nullptr) return nullptr;
  std::vector<Placement> placements(attr->placements().begin(), attr->placements().end());
  for (int m = 0; m < attr->mesh().ndim(); ++m) {
    Placement& placement = placements[static_cast<size_t>(m)];
    if (placement.is_partial()) placement = distributed::Replicate();
    if (placement.is_replicate() && given->placement(m).is_partial()) {
      placement = given->placement(m);
    }
  }
  return TensorDistAttr::get(attr->mesh(), placements);
}

OpCallSpec call_spec_of(const Reference& reference, const CaseCall& call, const ProcessMesh& mesh) {
  const OpRule& rule = reference.of(call.direction);
  OpCallSpec call_spec{mesh, {}, {}};
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const TensorKind kind = i < rule.tensors().size() ? rule.tensors()[i].kind : TensorKind::kOne;
    auto& argument = call_spec.inputs.emplace_back();
    for (const TensorText& text : call.inputs[i].tensors) {
      argument.push_back(case_tensor_of(text, kind, mesh));
      const TensorDistAttr*& attr = argument.back().attr;
      if (attr != nullptr && reference.policies.reduces_partial) {
        attr = with_partial_of(attr, TensorDistAttr::replicated(mesh));
      }
    }
  }
  if (takes_outputs(rule, call.inputs.size())) {
    auto& argument = call_spec.inputs.emplace_back();
    for (const TensorSpec& output : outputs_of(call, mesh)) {
      argument.push_back({{output.shape, DataType::FLOAT32}, output.attr});
    }
  }
  for (const auto& attribute : rule.attributes()) {
    call_spec.attributes.push_back(zero_of(attribute.kind));
  }
  for (const auto& [name, value] : call.attrs) {
    const auto* attribute = reference.attribute(name, call.direction);
    if (attribute == nullptr) continue;
    call_spec.attributes[static_cast<size_t>(attribute - rule.attributes().data())] = value;
  }
  return call_spec;
}

void set_forward_inputs(ForwardInputs inputs, const OpRule& rule, const OpCallSpec& call_spec,
                        SpmdResult* result) {
  for (size_t i = 0; i < call_spec.inputs.size(); ++i) {
    if (inputs == ForwardInputs::kAsGiven) result->inputs[i] = call_spec.inputs[i][0].attr;
    if (inputs != ForwardInputs::kIndependent) continue;
    OpCallSpec alone = call_spec;
    for (size_t k = 0; k < alone.inputs.size(); ++k) {
      if (k != i) alone.inputs[k][0].attr = TensorDistAttr::replicated(call_spec.mesh);
    }
    result->inputs[i] = rule.infer_spmd(rule.args(alone)).forward().inputs[i];
  }
}

// Keeps, of the mesh dims that split a tensor dim, only the largest; the first among equals.
void keep_largest_mesh_dims(distributed::AttrList* attrs) {
  for (const TensorDistAttr*& attr : *attrs) {
    if (attr == nullptr) continue;
    auto sharding = distributed::Sharding::of({Dims::filled(kMaxNdim, 1), attr});
    for (auto& split : sharding.dims) {
      int largest = -1;
      for (int m : split) {
        if (largest < 0 || attr->mesh().dim_size(m) > attr->mesh().dim_size(largest)) largest = m;
      }
      if (largest >= 0) split = distributed::MeshDims(largest);
    }
    attr = sharding.attr(attr->mesh());
  }
}

// `attr` without the splits over mesh dims by which `stronger` splits another tensor dim.
const TensorDistAttr* yielding_to(const TensorDistAttr* attr, const TensorDistAttr* stronger) {
  std::vector<Placement> placements(attr->placements().begin(), attr->placements().end());
  for (int m = 0; m < attr->mesh().ndim(); ++m) {
    Placement& own = placements[static_cast<size_t>(m)];
    const Placement& other = stronger->placement(m);
    if (own.is_shard() && other.is_shard() && own.tensor_dim() != other.tensor_dim()) {
      own = distributed::Replicate();
    }
  }
  return TensorDistAttr::get(attr->mesh(), placements);
}

SpmdResult infer_backward(const Policies& policies, const RuleArgs& args,
                          const distributed::SpmdRule& rule, const CaseCall& call,
                          const ProcessMesh& mesh) {
  std::vector<TensorSpec> outputs = outputs_of(call, mesh);
  for (size_t i = 0; i < outputs.size(); ++i) {
    const bool scalar_is_absent = (policies.scalars_are_absent >> i) & 1u;
    const bool left_out =
        i == 0 && policies.lacks_first_output && policies.lacks_first_output(args);
    if (left_out || (scalar_is_absent && outputs[i].ndim() == 0)) outputs[i] = {};
  }
  distributed::Conflicts conflicts;
  SpmdResult result = rule.backward(outputs, &conflicts);
  refuse_conflicts(conflicts, policies.refuses_shared_mesh_dims);
  if (policies.last_output_first && !outputs[0].absent()) {
    std::vector<TensorSpec> ranked = outputs;
    ranked[0].attr = yielding_to(outputs[0].attr, outputs.back().attr);
    result = rule.backward(ranked);
  }
  for (size_t i = 0; i < outputs.size(); ++i) {
    if (outputs[i].absent()) continue;
    if (policies.keeps_partial) {
      result.outputs[i] = with_partial_of(result.outputs[i], outputs[i].attr);
    }
    if (policies.backward_outputs == BackwardOutputs::kInferred) continue;
    result.outputs[i] = policies.backward_outputs == BackwardOutputs::kAsGiven || i > 0
                            ? outputs[i].attr
                            : with_partial_of(outputs[i].attr, TensorDistAttr::replicated(mesh));
  }
  if (policies.one_mesh_dim == OneMeshDim::kBackwardInputs) keep_largest_mesh_dims(&result.inputs);
  for (size_t i = 0; policies.keeps_partial && i < result.inputs.size(); ++i) {
    const int arg = static_cast<int>(i);
    result.inputs[i] = with_partial_of(result.inputs[i], args.spec(arg).attr);
  }
  return result;
}

// Compares entry by entry. The result for an absent tensor is ignored.
bool same(const TensorDistAttr* actual, const TensorText& expected) {
  if (actual == nullptr) return true;
  const int ndim = static_cast<int>(expected.dims_mapping.size());
  for (const auto& placement : actual->placements()) {
    if (placement.is_shard() && placement.tensor_dim() >= ndim) return false;
  }
  for (size_t i = 0; i < expected.partial_kinds.size(); ++i) {
    const auto m = static_cast<size_t>(expected.partial[i]);
    if (m >= actual->placements().size()) return false;
    const auto& placement = actual->placements()[m];
    if (!placement.is_partial() || placement.reduce() != expected.partial_kinds[i]) return false;
  }
  return actual->dims_mapping(ndim) == expected.dims_mapping &&
         actual->partial_dims() == expected.partial;
}

bool same(const distributed::AttrList& actual, const std::vector<TensorText>& expected) {
  if (actual.size() != expected.size()) return false;
  for (size_t i = 0; i < expected.size(); ++i) {
    if (!same(actual[i], expected[i])) return false;
  }
  return true;
}

// The number of dims of each tensor, in order, as far as known.
std::vector<int> ndims_of(const std::vector<ArgumentText>& arguments) {
  std::vector<int> ndims;
  for (const ArgumentText& argument : arguments) {
    for (const TensorText& text : argument.tensors) {
      ndims.push_back(static_cast<int>(text.shape.size()));
    }
  }
  return ndims;
}

// The number of dims of each output, from the case or else from the shape function.
std::vector<int> output_ndims(const Reference& reference, const CaseCall& call) {
  if (!call.outputs.empty()) return ndims_of(call.outputs);
  const OpRule& rule = reference.of(call.direction);
  const auto is_rule = [&](const OpRule& each) { return &each == &rule; };
  if (std::ranges::none_of(rules::all(), is_rule)) return {};  // a form without a shape function
  OpCallSpec call_spec = call_spec_of(reference, call, ProcessMesh(call.mesh));
  for (auto& argument : call_spec.inputs) {
    for (OpTensor& tensor : argument) tensor.meta.dtype = DataType::UNDEFINED;
  }
  std::vector<int> ndims;
  try {
    for (const auto& output : rule.infer(rule.with_dtypes(call_spec)).outputs) {
      ndims.push_back(output.meta ? output.meta->dims.ndim() : 0);
    }
  } catch (const Error&) {  // cases check rules only; their shapes may be invalid for the op
  }
  return ndims;
}

// The attrs as text, with an entry for each tensor dim.
std::string list_text(const distributed::AttrList& actual, const std::vector<int>& ndims) {
  std::string text;
  for (size_t i = 0; i < actual.size(); ++i) {
    text += (i > 0 ? " " : "") + to_text(actual[i], i < ndims.size() ? ndims[i] : 0);
  }
  return text;
}

std::string actual_text(const Reference& reference, const Case& c, const SpmdResult& actual) {
  std::vector<int> outputs = output_ndims(reference, c.call);
  for (size_t i = outputs.size(); c.expected && i < c.expected->outputs.size(); ++i) {
    outputs.push_back(static_cast<int>(c.expected->outputs[i].dims_mapping.size()));
  }
  return list_text(actual.inputs, ndims_of(c.call.inputs)) + " -> " +
         list_text(actual.outputs, outputs);
}

std::string entry_text(const std::vector<int>& mesh_dims) {
  return mesh_dims.empty() ? "_" : fmt::format("{}", fmt::join(mesh_dims, "+"));
}

}  // namespace

bool takes_outputs(const OpRule& rule, size_t num_inputs) {
  return num_inputs + 1 == rule.tensors().size() && rule.tensors().back().kind == TensorKind::kList;
}

const TensorDistAttr* attr_of(const TensorText& text, const ProcessMesh& mesh) {
  PHI_CHECK(text.dims_mapping.size() == text.shape.size(),
            errors::InvalidArgument("a tensor of {} dims [{}] has a dims_mapping of {} entries.",
                                    text.shape.size(), fmt::join(text.shape, ","),
                                    text.dims_mapping.size()));
  std::vector<std::pair<int, distributed::ReduceKind>> partial;
  for (size_t i = 0; i < text.partial.size(); ++i)
    partial.emplace_back(text.partial[i], kind_of(text, i));
  return TensorDistAttr::from_dims_mapping(mesh, text.dims_mapping, partial);
}

double checked_number(double value, const std::string& where) {
  constexpr double kMost = 4611686018427387904.0;  // 2^62
  PHI_CHECK(
      value >= -kMost && value <= kMost,
      errors::InvalidArgument("{} is {}; a rule accepts numbers of at most 2^62.", where, value));
  return value;
}

SpmdResult infer(const Reference& reference, const CaseCall& call) {
  const ProcessMesh mesh(call.mesh);
  const Policies& policies = reference.policies;
  const OpRule& op = reference.of(call.direction);
  const OpCallSpec call_spec = call_spec_of(reference, call, mesh);
  const RuleArgs args = op.args(call_spec);
  if (policies.refusal != nullptr) {
    const char* reason = policies.refusal(args, call.direction);
    PHI_CHECK(reason == nullptr, errors::InvalidArgument("{}", reason));
  }
  const auto rule = op.infer_spmd(args);
  if (call.direction == Direction::kBackward) {
    return infer_backward(policies, args, rule, call, mesh);
  }
  distributed::Conflicts conflicts;
  SpmdResult result = rule.forward(&conflicts);
  refuse_conflicts(conflicts, policies.refuses_shared_mesh_dims);
  if (call.direction == Direction::kForward) {
    set_forward_inputs(policies.forward_inputs, op, call_spec, &result);
    if (policies.one_mesh_dim == OneMeshDim::kOutputs) keep_largest_mesh_dims(&result.outputs);
  }
  if (policies.lacks_first_output != nullptr && policies.lacks_first_output(args)) {
    result.outputs[0] = nullptr;
  }
  return result;
}

CaseResult run_case(const Reference& reference, const Case& c) {
  try {
    const SpmdResult actual = infer(reference, c.call);
    if (c.expected && same(actual.inputs, c.expected->inputs) &&
        same(actual.outputs, c.expected->outputs)) {
      return {true, ""};
    }
    return {false, actual_text(reference, c, actual)};
  } catch (const Error& error) {
    return {!c.expected, std::string("refused: ") + error.what()};
  }
}

std::string to_text(const TensorText& tensor) {
  std::vector<std::string> entries;
  for (const auto& mesh_dims : tensor.dims_mapping) entries.push_back(entry_text(mesh_dims));
  for (size_t i = 0; i < tensor.partial.size(); ++i) {
    const auto kind = kind_of(tensor, i);
    const bool is_sum = kind == distributed::ReduceKind::kSum;
    entries.push_back(fmt::format("p{}{}", tensor.partial[i],
                                  is_sum ? "" : fmt::format(":{}", distributed::name_of(kind))));
  }
  return fmt::format("{}[{}]", fmt::join(tensor.shape, "x"), fmt::join(entries, ","));
}

std::string to_text(const TensorDistAttr* attr, int ndim) {
  if (attr == nullptr) return "absent";
  for (const auto& p : attr->placements()) {
    if (p.is_shard()) ndim = std::max(ndim, p.tensor_dim() + 1);
  }
  std::vector<distributed::ReduceKind> kinds;
  for (int m : attr->partial_dims()) {
    kinds.push_back(attr->placements()[static_cast<size_t>(m)].reduce());
  }
  return to_text(TensorText{{}, attr->dims_mapping(ndim), attr->partial_dims(), kinds});
}

std::string to_text(const Reference& reference, const CaseCall& call) {
  std::string text =
      fmt::format("{}{} --mesh={}", reference.name,
                  call.direction == Direction::kGrad ? " (grad)" : "", fmt::join(call.mesh, "x"));
  const auto add = [&](const std::vector<ArgumentText>& arguments, const char* flag) {
    for (const auto& argument : arguments) {
      std::vector<std::string> tensors;
      for (const auto& tensor : argument.tensors) tensors.push_back(to_text(tensor));
      text += fmt::format(" --{}='{}'", flag, fmt::join(tensors, " "));
    }
  };
  add(call.inputs, "in");
  add(call.outputs, "out");
  for (const auto& [name, value] : call.attrs) {
    text += fmt::format(" --attr {}={}", name, phi::to_text(value));
  }
  return text;
}

std::string to_text(const ExpectedResult& expected) {
  const auto list = [](const std::vector<TensorText>& tensors) {
    std::vector<std::string> texts;
    for (const auto& tensor : tensors) texts.push_back(to_text(tensor));
    return fmt::format("{}", fmt::join(texts, " "));
  };
  return list(expected.inputs) + " -> " + list(expected.outputs);
}

}  // namespace phi::spmd_tool
