// Makes the OpEntry objects of a loaded library from the signatures of its functions (OpSignature).
#include "python/src/ops/loaded_ops.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <deque>
#include <string>
#include <vector>

#include "api/call/named_call.h"
#include "api/library/load_ops.h"
#include "python/src/ops/attribute_values.h"
#include "python/src/ops/frame.h"
#include "python/src/ops/op_function.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

// Formats a default as a Python expression.
struct PythonLiteral {
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

// Whether argument i takes its default. For an optional attribute None means absent, which is its
// default.
bool takes_default(const Frame& frame, int i, const OpRule::Attribute& attribute) {
  if (!attribute.by_default) return false;
  if (!frame.is_given(i)) return true;
  return std::holds_alternative<std::monostate>(*attribute.by_default) && frame.value(i) == Py_None;
}

PyObject* call_loaded(Frame& frame);

// An entry and the data that it points to. It lives until the process ends, like the library.
class LoadedEntry : public OpEntry {
 public:
  explicit LoadedEntry(const OpSignature& signature) : OpEntry{}, signature_(signature) {
    for (const OpRule::TensorParameter& tensor : signature.tensors) {
      arguments_.push_back({tensor.name, tensor.kind == TensorKind::kOne ? nullptr : "None"});
    }
    for (const OpRule::Attribute& attribute : signature.attributes) {
      const char* words = nullptr;
      if (attribute.by_default) {
        words = defaults_.emplace_back(std::visit(PythonLiteral(), *attribute.by_default)).c_str();
      }
      arguments_.push_back({attribute.name, words});
    }
    doc_ = fmt::format("{}({}) -> {}", signature.name, fmt::join(names(), ", "),
                       fmt::join(signature.outputs, ", "));
    name = signature.name;
    op = "";
    arguments = arguments_;
    OpEntry::call = &python::call_loaded;
    doc = doc_.c_str();
    is_method = !signature.tensors.empty() && signature.tensors[0].kind == TensorKind::kOne;
  }
  LoadedEntry(const LoadedEntry&) = delete;
  LoadedEntry& operator=(const LoadedEntry&) = delete;

  const OpSignature& signature() const { return signature_; }
  /// Sets the operator whose kernel runs, and adds its rule to the documentation.
  void say_operator(const char* kernels) {
    op = kernels;
    doc_ += fmt::format("\n\nPlacement  {}", rules::find(kernels).rule());
    doc = doc_.c_str();
  }

 private:
  std::vector<std::string> names() const {
    std::vector<std::string> names;
    for (const OpArgument& argument : arguments_) names.emplace_back(argument.name);
    return names;
  }

  const OpSignature& signature_;
  std::vector<OpArgument> arguments_;
  std::deque<std::string> defaults_;
  std::string doc_;
};

// Returns the output as a Python object. If it is one of the arguments (an inplace call), returns
// the argument's object.
PyObject* result_of(Tensor output, const std::vector<TensorList>& tensors, const Frame& frame) {
  for (size_t i = 0; i < tensors.size(); ++i) {
    PyObject* value = frame.value(static_cast<int>(i));
    if (value != nullptr && is_tensor(value) && same_tensor(output, tensors[i].front())) {
      return Py_NewRef(value);
    }
  }
  return to_python(std::move(output));
}

// Returns a tensor for one output, a tuple for several.
PyObject* results_of(TensorList outputs, const std::vector<TensorList>& tensors,
                     const Frame& frame) {
  if (outputs.size() == 1) return result_of(std::move(outputs[0]), tensors, frame);
  PyRef tuple(checked(PyTuple_New(std::ssize(outputs))));
  for (size_t i = 0; i < outputs.size(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), static_cast<Py_ssize_t>(i),
                     checked(result_of(std::move(outputs[i]), tensors, frame)));
  }
  return tuple.release();
}

PyObject* call_loaded(Frame& frame) {
  const OpSignature& signature = static_cast<const LoadedEntry&>(frame.op()).signature();
  int i = 0;
  std::vector<TensorList> tensors;
  for (const OpRule::TensorParameter& tensor : signature.tensors) {
    tensors.push_back(tensors_of(frame, i++, tensor.kind));
  }
  std::vector<AttributeValue> attributes;
  for (const OpRule::Attribute& attribute : signature.attributes) {
    attributes.push_back(
        takes_default(frame, i, attribute)
            ? *attribute.by_default
            : attribute_from_python(frame.value(i), frame.argument(i), attribute.kind));
    ++i;
  }
  GilRelease others;
  TensorList outputs = call_function(signature.name, tensors, attributes);
  others.end();
  return results_of(std::move(outputs), tensors, frame);
}

// The operator of a function: of the same name, or the one whose inplace variant it is. Null for a
// function that calls other operators.
const char* operator_of(const LoadedOps& loaded, std::string_view function) {
  const auto has = [&](std::string_view name) { return std::ranges::count(loaded.ops, name) > 0; };
  if (!has(function) && function.ends_with('_')) function.remove_suffix(1);
  return has(function) ? ops::find(function).name : nullptr;
}

std::vector<std::string> load_library(const std::string& path, nb::handle ops) {
  const LoadedOps* loaded = nullptr;
  {
    const GilRelease others;
    loaded = &load_ops(path);
  }
  std::vector<std::string> names;
  for (const OpSignature& function : loaded->functions) {
    names.emplace_back(function.name);
    if (nb::hasattr(ops, function.name)) continue;  // loaded before
    LoadedEntry& row = *new LoadedEntry(function);
    if (const char* op = operator_of(*loaded, names.back())) row.say_operator(op);
    add_op_function(ops.ptr(), row);
  }
  return names;
}

}  // namespace

void bind_loaded_ops(nb::module_& module, nb::module_& ops) {
  module.def(
      "load_ops", [ops](const std::string& path) { return load_library(path, ops); },
      nb::arg("path"));
}

}  // namespace phi::python
