// Binds rule inference with plain Python values as arguments and results; autophi/spmd.py wraps
// them.
#include "python/src/programs/spmd.h"

#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/rules/op_rule.h"
#include "distributed/placement/dist_attr.h"
#include "phi/common/errors.h"
#include "python/src/base/dtype.h"
#include "python/src/distributed/mesh.h"
#include "python/src/ops/attribute_values.h"

namespace phi::python {

namespace nb = nanobind;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::TensorDistAttr;

namespace {

// ---- arguments ----

DataType optional_dtype(nb::handle dtype) {
  return dtype.is_none() ? DataType::UNDEFINED : dtype_from(dtype.ptr(), {"infer", "dtype"});
}

// Converts (shape, dtype or None, placements), or None for an absent tensor.
OpTensor tensor_in(nb::handle told, const ProcessMesh& mesh) {
  if (told.is_none()) return {};
  const auto parts = nb::cast<nb::tuple>(told);
  const auto shape = nb::cast<std::vector<int64_t>>(parts[0]);
  const auto placements = nb::cast<std::vector<Placement>>(parts[2]);
  return {{Dims(shape), optional_dtype(parts[1])}, TensorDistAttr::get(mesh, placements)};
}

std::vector<OpTensor> tensors_in(nb::handle told, const ProcessMesh& mesh) {
  std::vector<OpTensor> tensors;
  for (nb::handle tensor : nb::cast<nb::list>(told)) tensors.push_back(tensor_in(tensor, mesh));
  return tensors;
}

OpCallSpec call_spec_of(const OpRule& rule, const ProcessMesh& mesh, const nb::list& inputs,
                        const nb::dict& attributes) {
  OpCallSpec call_spec{mesh, {}, {}};
  for (nb::handle argument : inputs) call_spec.inputs.push_back(tensors_in(argument, mesh));
  std::vector<std::pair<std::string, AttributeValue>> given;
  const std::string op(rule.name());
  for (auto [key, value] : attributes) {
    const auto name = nb::cast<std::string>(key);
    given.emplace_back(name, attribute_from_python(value.ptr(), {op.c_str(), name.c_str()},
                                                   rule.attribute(name).kind));
  }
  call_spec.attributes = rule.attributes(given);
  return call_spec;
}

// ---- results ----

nb::object placements_of(const TensorDistAttr* attr) {
  if (attr == nullptr) return nb::none();
  return nb::steal(placements_object(attr->placements()));
}

// Data-dependent extents are None.
nb::list shape_list(const Dims& dims) {
  nb::list shape;
  for (const int64_t extent : dims) {
    if (extent < 0) {
      shape.append(nb::none());
    } else {
      shape.append(extent);
    }
  }
  return shape;
}

nb::object output_of(const OpInference::Output& output) {
  if (!output.meta) return nb::none();
  return nb::make_tuple(shape_list(output.meta->dims), nb::handle(dtype_object(output.meta->dtype)),
                        placements_of(output.attr));
}

nb::dict inference_of(const OpInference& inference, const distributed::Conflicts& conflicts) {
  nb::list inputs, outputs, texts;
  for (const TensorDistAttr* attr : inference.inputs) inputs.append(placements_of(attr));
  for (const OpInference::Output& output : inference.outputs) outputs.append(output_of(output));
  for (const distributed::Conflict& conflict : conflicts) texts.append(conflict.text);
  nb::dict dict;
  dict["inputs"] = inputs;
  dict["outputs"] = outputs;
  dict["conflicts"] = texts;
  return dict;
}

nb::dict infer(const std::string& op, const ProcessMesh& mesh, const nb::list& inputs,
               const nb::dict& attributes, nb::handle outputs) {
  const OpRule& rule = rules::find(op);
  const OpCallSpec call_spec = rule.with_dtypes(call_spec_of(rule, mesh, inputs, attributes));
  distributed::Conflicts conflicts;
  if (outputs.is_none()) return inference_of(rule.infer(call_spec, &conflicts), conflicts);
  const std::vector<OpTensor> given = tensors_in(outputs, mesh);
  return inference_of(rule.infer_backward(call_spec, given, &conflicts), conflicts);
}

// ---- rules ----

const char* name_of(TensorKind kind) {
  switch (kind) {
    case TensorKind::kOptional:
      return "optional";
    case TensorKind::kList:
      return "list";
    default:
      return "one";
  }
}

nb::dict described(const OpRule& rule) {
  nb::list tensors, outputs;
  nb::dict attributes;
  for (const OpRule::TensorParameter& tensor : rule.tensors()) {
    tensors.append(nb::make_tuple(tensor.name, name_of(tensor.kind)));
  }
  for (const OpRule::Attribute& attribute : rule.attributes()) {
    attributes[attribute.name] = std::string(name_of(attribute.kind));
  }
  for (const char* output : rule.outputs()) outputs.append(output);
  nb::dict dict;
  dict["name"] = std::string(rule.name());
  dict["rule"] = std::string(rule.rule());
  dict["tensors"] = tensors;
  dict["attributes"] = attributes;
  dict["outputs"] = outputs;
  return dict;
}

nb::list all_rules() {
  nb::list list;
  for (const OpRule& rule : rules::all()) list.append(described(rule));
  return list;
}

}  // namespace

void bind_spmd(nb::module_& module) {
  module.def("infer", &infer, nb::arg("op"), nb::arg("mesh"), nb::arg("inputs"),
             nb::arg("attributes"), nb::arg("outputs").none());
  module.def("rules", &all_rules);
  module.def(
      "rule", [](const std::string& op) { return described(rules::find(op)); }, nb::arg("op"));
}

}  // namespace phi::python
