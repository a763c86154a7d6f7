// Rows of the table of operators that are made when a library is loaded, of what the program knows
// of its operators by name (call_op).
#include "python/src/ops/loaded_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <deque>
#include <string>
#include <vector>

#include "api/call/named_call.h"
#include "api/library/load_ops.h"
#include "api/rules/op_rule.h"
#include "python/src/ops/attribute_values.h"
#include "python/src/ops/frame.h"
#include "python/src/ops/op_function.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// A default in the words of Python.
struct Words {
  std::string operator()(std::monostate) const { return "None"; }
  std::string operator()(bool v) const { return v ? "True" : "False"; }
  std::string operator()(const std::string& v) const { return "'" + v + "'"; }
  std::string operator()(DataType v) const {
    return v == DataType::UNDEFINED ? "None" : fmt::format("'{}'", name_of(v));
  }
  template <typename T>
  std::string operator()(const T& v) const {
    if constexpr (std::is_arithmetic_v<T>) {
      return to_text(AttributeValue(v));
    } else {
      std::string list;
      for (const auto& element : v) list += (list.empty() ? "" : ", ") + (*this)(element);
      return "(" + list + (v.size() == 1 ? ",)" : ")");
    }
  }
};

TensorList tensors_of(Frame& frame, int i, TensorKind kind) {
  if (kind == TensorKind::kList) return frame.list(i);
  if (kind == TensorKind::kOptional) return {frame.optional(i).value_or(Tensor())};
  return {frame.tensor(i)};
}

// None is an optional attribute's absence, which is its default too.
bool takes_default(const Frame& frame, int i, const OpRule::Attribute& attribute) {
  if (!attribute.by_default) return false;
  if (!frame.is_given(i)) return true;
  return std::holds_alternative<std::monostate>(*attribute.by_default) && frame.value(i) == Py_None;
}

PyObject* call(Frame& frame);

// A row and what it points to; it stays for as long as the process lives, as the library does.
class Row : public OpEntry {
 public:
  explicit Row(const OpRule& rule) : OpEntry{}, rule_(rule), name_(rule.name()) {
    for (const OpRule::Tensor& tensor : rule.tensors()) {
      arguments_.push_back({tensor.name, tensor.kind == TensorKind::kOne ? nullptr : "None"});
    }
    for (const OpRule::Attribute& attribute : rule.attributes()) {
      const char* words = nullptr;
      if (attribute.by_default) {
        words = defaults_.emplace_back(std::visit(Words(), *attribute.by_default)).c_str();
      }
      arguments_.push_back({attribute.name, words});
    }
    doc_ = fmt::format("{}({}) -> {}\n\nPlacement  {}", name_, fmt::join(names(), ", "),
                       fmt::join(rule.outputs(), ", "), rule.rule());
    name = name_.c_str();
    op = name_.c_str();
    arguments = arguments_;
    OpEntry::call = &python::call;
    doc = doc_.c_str();
    is_method = !rule.tensors().empty() && rule.tensors()[0].kind == TensorKind::kOne;
  }
  Row(const Row&) = delete;
  Row& operator=(const Row&) = delete;

  const OpRule& rule() const { return rule_; }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const OpArgument& argument : arguments_) names.emplace_back(argument.name);
    return names;
  }

  const OpRule& rule_;
  std::string name_;
  std::vector<OpArgument> arguments_;
  std::deque<std::string> defaults_;
  std::string doc_;
};

// Of one output the tensor, of more a tuple.
PyObject* results_of(TensorList outputs) {
  if (outputs.size() == 1) return to_python(std::move(outputs[0]));
  const Owned list(to_python(std::move(outputs)));
  return PyList_AsTuple(list.get());
}

PyObject* call(Frame& frame) {
  const OpRule& rule = static_cast<const Row&>(frame.op()).rule();
  int i = 0;
  std::vector<TensorList> tensors;
  for (const OpRule::Tensor& tensor : rule.tensors()) {
    tensors.push_back(tensors_of(frame, i++, tensor.kind));
  }
  std::vector<AttributeValue> attributes;
  for (const OpRule::Attribute& attribute : rule.attributes()) {
    attributes.push_back(
        takes_default(frame, i, attribute)
            ? *attribute.by_default
            : attribute_from_python(frame.value(i), frame.argument(i), attribute.kind));
    ++i;
  }
  WithoutGil others;
  TensorList outputs = call_function(rule.name(), std::move(tensors), attributes);
  others.end();
  return results_of(std::move(outputs));
}

std::vector<std::string> load(const std::string& path, nb::handle ops) {
  const LoadedOps* loaded = nullptr;
  {
    const WithoutGil others;
    loaded = &load_ops(path);
  }
  for (const std::string& name : loaded->ops) {
    if (nb::hasattr(ops, name.c_str())) continue;  // loaded before
    add_op_function(ops.ptr(), *new Row(rules::find(name)));
  }
  return loaded->ops;
}

}  // namespace

void bind_loaded_ops(nb::module_& module, nb::module_& ops) {
  module.def(
      "load_ops", [ops](const std::string& path) { return load(path, ops); }, nb::arg("path"));
}

}  // namespace phi::python
