// Runs an operator's rule and shape function with run-time tensors and attributes.
#include "api/rules/op_rule.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>
#include <mutex>

#include "phi/common/nearest_name.h"
#include "phi/core/op_registry.h"

namespace phi {
namespace {

using distributed::SpmdResult;
using distributed::TensorSpec;

std::string names_of(std::span<const OpRule::TensorParameter> tensors) {
  std::string names;
  for (const auto& tensor : tensors)
    names += (names.empty() ? "" : ", ") + std::string(tensor.name);
  return names;
}

OpInference inference_of(const SpmdResult& spmd, const OutputMetas& metas) {
  OpInference inference;
  inference.inputs.assign(spmd.inputs.begin(), spmd.inputs.end());
  for (size_t i = 0; i < metas.size(); ++i) {
    inference.outputs.push_back({metas[i], metas[i] ? spmd.outputs[i] : nullptr});
  }
  return inference;
}

// The tensors without a dtype, for each argument that has some.
std::vector<std::vector<TensorMeta*>> without_dtype(OpCallSpec& call_spec) {
  std::vector<std::vector<TensorMeta*>> result;
  for (auto& argument : call_spec.inputs) {
    std::vector<TensorMeta*> open;
    for (OpTensor& tensor : argument) {
      if (tensor.attr != nullptr && tensor.meta.dtype == DataType::UNDEFINED) {
        open.push_back(&tensor.meta);
      }
    }
    if (!open.empty()) result.push_back(std::move(open));
  }
  return result;
}

void set_dtype(const std::vector<TensorMeta*>& tensors, DataType dtype) {
  for (TensorMeta* tensor : tensors) tensor->dtype = dtype;
}

// Sets `others` of the arguments, from number `first` on, to a dtype other than float32 such that
// `accepted()` is true. If there is no such choice, returns false and restores float32.
template <typename Accepted>
bool choose(const std::vector<std::vector<TensorMeta*>>& open, size_t first, int others,
            const Accepted& accepted) {
  if (others == 0) return accepted();
  for (size_t i = first; i < open.size(); ++i) {
    for (const DataType dtype : {DataType::INT64, DataType::BOOL, DataType::UINT8}) {
      set_dtype(open[i], dtype);
      if (choose(open, i + 1, others - 1, accepted)) return true;
    }
    set_dtype(open[i], DataType::FLOAT32);
  }
  return false;
}

}  // namespace

OpRule&& OpRule::tensor(const char* name, TensorKind kind) && {
  tensors_.push_back({name, kind});
  return std::move(*this);
}

OpRule::Attribute OpRule::optional(const char* name, AttributeKind kind,
                                   AttributeValue by_default) {
  return {name, kind, std::move(by_default)};
}

OpRule&& OpRule::attribute(Attribute attribute) && {
  attributes_.push_back(std::move(attribute));
  return std::move(*this);
}

OpRule&& OpRule::output(const char* name) && {
  outputs_.push_back(name);
  return std::move(*this);
}

const OpRule::Attribute& OpRule::attribute(std::string_view name) const {
  std::vector<std::string> names;
  for (const Attribute& attribute : attributes_) {
    if (attribute.name == name) return attribute;
    names.emplace_back(attribute.name);
  }
  if (const auto here = argument_by_compat_name(name_, name); !here.empty()) return attribute(here);
  throw errors::InvalidArgument(
      "{} has no attribute '{}'{}", name_, name,
      names.empty() ? "; it has no attributes." : did_you_mean(name, names));
}

std::vector<AttributeValue> OpRule::attributes(
    const std::vector<std::pair<std::string, AttributeValue>>& given) const {
  std::vector<std::optional<AttributeValue>> values;
  for (const Attribute& attribute : attributes_) values.push_back(attribute.by_default);
  for (const auto& [name, value] : given) {
    values[static_cast<size_t>(&attribute(name) - attributes_.data())] = value;
  }
  std::vector<AttributeValue> result;
  for (size_t i = 0; i < values.size(); ++i) {
    PHI_CHECK(values[i].has_value(),
              errors::InvalidArgument("the attribute '{}' of {} has no default; pass it.",
                                      attributes_[i].name, name_));
    result.push_back(*values[i]);
  }
  return result;
}

RuleArgs OpRule::args(const OpCallSpec& call_spec) const {
  PHI_CHECK(
      call_spec.inputs.size() == tensors_.size(),
      errors::InvalidArgument("{} inputs are passed, {} takes {}: {}.", call_spec.inputs.size(),
                              name_, tensors_.size(), names_of(tensors_)));
  PHI_CHECK(call_spec.attributes.size() == attributes_.size(),
            errors::InvalidArgument("{} attributes are passed, {} takes {}.",
                                    call_spec.attributes.size(), name_, attributes_.size()));
  RuleArgs args(call_spec.mesh, call_spec.attributes);
  for (size_t i = 0; i < tensors_.size(); ++i) {
    const auto& [name, kind] = tensors_[i];
    const auto& given = call_spec.inputs[i];
    PHI_CHECK(kind == TensorKind::kList || given.size() == 1,
              errors::InvalidArgument("{} of {} is one tensor, {} are passed.", name, name_,
                                      given.size()));
    args.add_argument();
    for (const OpTensor& tensor : given) {
      PHI_CHECK(tensor.attr != nullptr || kind == TensorKind::kOptional,
                errors::InvalidArgument("{} of {} is not optional; pass it.", name, name_));
      PHI_CHECK(tensor.attr == nullptr || tensor.attr->mesh() == call_spec.mesh,
                errors::InvalidArgument("{} of {} is on another mesh.", name, name_));
      if (tensor.attr != nullptr) tensor.attr->check_fits(tensor.meta.dims);
      args.add({tensor.meta.dims, tensor.attr, name}, tensor.meta);
    }
  }
  return args;
}

OpCallSpec OpRule::with_dtypes(OpCallSpec call_spec) const {
  const auto open = without_dtype(call_spec);
  for (const auto& tensors : open) set_dtype(tensors, DataType::FLOAT32);
  const auto accepted = [&] {
    try {
      functions_.infer_meta(args(call_spec));
      return true;
    } catch (const Error&) {
      return false;
    }
  };
  for (int others = 0; others <= (open.empty() ? -1 : 2); ++others) {
    if (choose(open, 0, others, accepted)) break;
  }
  return call_spec;
}

OpInference OpRule::infer(const OpCallSpec& untyped, distributed::Conflicts* conflicts) const {
  const OpCallSpec call_spec = with_dtypes(untyped);
  const RuleArgs given = args(call_spec);
  const OutputMetas metas = functions_.infer_meta(given);
  return inference_of(functions_.forward(given, metas.size(), conflicts), metas);
}

OpInference OpRule::infer_by_rule(const OpCallSpec& untyped) const {
  const RuleArgs given = args(with_dtypes(untyped));
  const OutputMetas metas = functions_.infer_meta(given);
  return inference_of(functions_.forward_by_rule(given, metas.size()), metas);
}

OpInference OpRule::infer_backward(const OpCallSpec& untyped, std::span<const OpTensor> outputs,
                                   distributed::Conflicts* conflicts) const {
  const OpCallSpec call_spec = with_dtypes(untyped);
  const RuleArgs given = args(call_spec);
  const OutputMetas metas = functions_.infer_meta(given);
  PHI_CHECK(outputs.size() == metas.size(),
            errors::InvalidArgument("{} outputs are passed, {} has {}.", outputs.size(), name_,
                                    metas.size()));
  std::vector<TensorSpec> specs;
  for (size_t i = 0; i < metas.size(); ++i) {
    specs.push_back({});
    if (!metas[i] || outputs[i].attr == nullptr) continue;
    const Dims& dims = outputs[i].meta.dims;
    PHI_CHECK(dims == metas[i]->dims || !metas[i]->dims.known(),
              errors::InvalidArgument("output {} is passed as {}, but {} returns {}.", i,
                                      dims.to_string(), name_, metas[i]->dims.to_string()));
    outputs[i].attr->check_fits(dims);
    specs[i] = {dims, outputs[i].attr};
  }
  return inference_of(functions_.backward(given, specs, conflicts), metas);
}

namespace {

using Rules = std::vector<OpRule>;

// The rules of all operators that are registered at this moment, sorted by name.
std::unique_ptr<const Rules> describe_all() {
  auto list = std::make_unique<Rules>();
  for (const OpDef* op : ops::all()) list->push_back(op->rule.describe(op->rule));
  std::sort(list->begin(), list->end(),
            [](const OpRule& a, const OpRule& b) { return a.name() < b.name(); });
  return list;
}

}  // namespace

namespace rules {

std::span<const OpRule> all() {
  struct Lists {
    std::mutex mutex;
    std::vector<std::unique_ptr<const Rules>> lists;  // callers may hold spans of any
  };
  static auto& made = *new Lists;
  const std::lock_guard lock(made.mutex);
  if (made.lists.empty() || made.lists.back()->size() != ops::all().size()) {
    made.lists.push_back(describe_all());
  }
  return *made.lists.back();
}

const OpRule& find(std::string_view name) {
  const auto list = all();
  const auto it =
      std::lower_bound(list.begin(), list.end(), std::string_view(ops::find(name).name),
                       [](const OpRule& rule, std::string_view n) { return rule.name() < n; });
  return *it;
}

}  // namespace rules

}  // namespace phi
