// Calls of operators from Python: orders the arguments by a table, without copying them.
//
// The objects are called by vectorcall and, like functions written in Python, as methods without an
// intermediate bound object. This is the cheapest way to call C++ with keyword arguments.
#include "python/src/ops/op_function.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <structmember.h>

#include <array>
#include <cstddef>
#include <string>
#include <vector>

#include "phi/common/nearest_name.h"
#include "phi/core/op_def.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/ops/frame.h"
#include "python/src/tensor/tensor_object.h"

namespace phi::python {
namespace {

struct OpFunction {
  PyObject_HEAD vectorcallfunc vectorcall;
  const OpEntry* entry;
  PyObject* name;
  PyObject* names[kMaxArguments];  // of its arguments, interned
  uint64_t none_is_default;        // bit i: None for argument i means its default
};

PyTypeObject* function_type = nullptr;

const OpFunction& as_function(PyObject* self) { return *reinterpret_cast<OpFunction*>(self); }

std::vector<std::string> names_of(const OpEntry& entry) {
  std::vector<std::string> names;
  for (const OpArgument& argument : entry.arguments) names.emplace_back(argument.name);
  return names;
}

// ---- order of arguments ----

[[noreturn]] void refuse_count(const OpEntry& entry, size_t given) {
  raise(PyExc_TypeError, fmt::format("{} takes {} argument{} ({}), got {}", entry.name,
                                     entry.arguments.size(), entry.arguments.size() == 1 ? "" : "s",
                                     fmt::join(names_of(entry), ", "), given));
}

// Keywords are nearly always interned, so a comparison of pointers finds most of them.
size_t index_of(const OpFunction& function, PyObject* keyword) {
  const size_t count = function.entry->arguments.size();
  for (size_t i = 0; i < count; ++i) {
    if (function.names[i] == keyword) return i;
  }
  for (size_t i = 0; i < count; ++i) {
    if (PyUnicode_Compare(function.names[i], keyword) == 0) return i;
  }
  const std::string name = PyUnicode_AsUTF8(keyword);
  raise(PyExc_TypeError,
        fmt::format("{} has no argument '{}'{}; its arguments are ({})", function.entry->name, name,
                    did_you_mean(name, names_of(*function.entry)),
                    fmt::join(names_of(*function.entry), ", ")));
}

void take_keywords(const OpFunction& function, PyObject* const* args, PyObject* keywords,
                   PyObject** values) {
  const Py_ssize_t count = PyTuple_GET_SIZE(keywords);
  for (Py_ssize_t k = 0; k < count; ++k) {
    const size_t i = index_of(function, PyTuple_GET_ITEM(keywords, k));
    if (values[i] != nullptr) {
      raise(PyExc_TypeError, fmt::format("{}: argument '{}' is passed twice", function.entry->name,
                                         function.entry->arguments[i].name));
    }
    values[i] = args[k];
  }
}

void check_given(const OpFunction& function, PyObject** values) {
  const std::span<const OpArgument> arguments = function.entry->arguments;
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (values[i] == Py_None && (function.none_is_default >> i & 1) != 0) values[i] = nullptr;
    if (values[i] == nullptr && arguments[i].by_default == nullptr) [[unlikely]] {
      raise(PyExc_TypeError,
            fmt::format("{}: argument '{}' is missing", function.entry->name, arguments[i].name));
    }
  }
}

PyObject* call_operator(PyObject* self, PyObject* const* args, size_t flags,
                        PyObject* keywords) noexcept {
  return guarded([&] {
    const OpFunction& function = as_function(self);
    const OpEntry& entry = *function.entry;
    const auto given = static_cast<size_t>(PyVectorcall_NARGS(flags));
    if (given > entry.arguments.size()) [[unlikely]]
      refuse_count(entry, given);
    std::array<PyObject*, kMaxArguments> values;  // one per argument of the operator is set
    for (size_t i = 0; i < given; ++i) values[i] = args[i];
    for (size_t i = given; i < entry.arguments.size(); ++i) values[i] = nullptr;
    if (keywords != nullptr) take_keywords(function, args + given, keywords, values.data());
    check_given(function, values.data());
    Frame frame(entry, values.data());
    return entry.call(frame);
  });
}

// ---- the type ----

void destroy_function(PyObject* self) {
  const OpFunction& function = as_function(self);
  Py_DECREF(function.name);
  for (size_t i = 0; i < function.entry->arguments.size(); ++i) Py_DECREF(function.names[i]);
  PyTypeObject* type = Py_TYPE(self);
  type->tp_free(self);
  Py_DECREF(type);
}

PyObject* bind(PyObject* self, PyObject* object, PyObject* /*type*/) {
  return object == nullptr || object == Py_None ? Py_NewRef(self) : PyMethod_New(self, object);
}

PyObject* signature(PyObject* self, void* /*closure*/) {
  return guarded([&] {
    std::string text;
    for (const OpArgument& argument : as_function(self).entry->arguments) {
      text += fmt::format("{}{}", text.empty() ? "" : ", ", argument.name);
      if (argument.by_default != nullptr) text += fmt::format("={}", argument.by_default);
    }
    return PyUnicode_FromString(fmt::format("({})", text).c_str());
  });
}

// The dtypes that the operator's kernel accepts on a CPU.
std::string dtypes_of(const OpEntry& entry) {
  if (*entry.op == '\0') return "";
  std::vector<std::string_view> names;
  for (int i = 1; i < kNumDataTypes; ++i) {
    const auto dtype = static_cast<DataType>(i);
    if (ops::find(entry.op).kernel.find(DeviceKind::CPU, dtype) != nullptr) {
      names.push_back(name_of(dtype));
    }
  }
  return names.empty() ? "" : fmt::format("\nDtypes     {}", fmt::join(names, ", "));
}

PyObject* doc(PyObject* self, void* /*closure*/) {
  return guarded([&] {
    const OpEntry& entry = *as_function(self).entry;
    return PyUnicode_FromString((entry.doc + dtypes_of(entry)).c_str());
  });
}

PyObject* name(PyObject* self, void* /*closure*/) { return Py_NewRef(as_function(self).name); }

PyObject* module_name(PyObject* /*self*/, void* /*closure*/) {
  return PyUnicode_FromString("autophi");
}

PyObject* show_function(PyObject* self) {
  return PyUnicode_FromFormat("<operator autophi.%U>", as_function(self).name);
}

// A pickle stores the function's name in the module `autophi`.
PyObject* reduce_function(PyObject* self, PyObject* /*unused*/) {
  return Py_NewRef(as_function(self).name);
}

PyTypeObject* make_type() {
  static PyMemberDef members[] = {
      {"__vectorcalloffset__", T_PYSSIZET, offsetof(OpFunction, vectorcall), READONLY, nullptr},
      {nullptr, 0, 0, 0, nullptr}};
  static PyGetSetDef properties[] = {{"__name__", name, nullptr, nullptr, nullptr},
                                     {"__qualname__", name, nullptr, nullptr, nullptr},
                                     {"__module__", module_name, nullptr, nullptr, nullptr},
                                     {"__doc__", doc, nullptr, nullptr, nullptr},
                                     {"__text_signature__", signature, nullptr, nullptr, nullptr},
                                     {nullptr, nullptr, nullptr, nullptr, nullptr}};
  static PyMethodDef methods[] = {{"__reduce__", reduce_function, METH_NOARGS, nullptr},
                                  {nullptr, nullptr, 0, nullptr}};
  static PyType_Slot slots[] = {{Py_tp_dealloc, reinterpret_cast<void*>(destroy_function)},
                                {Py_tp_call, reinterpret_cast<void*>(PyVectorcall_Call)},
                                {Py_tp_descr_get, reinterpret_cast<void*>(bind)},
                                {Py_tp_repr, reinterpret_cast<void*>(show_function)},
                                {Py_tp_members, members},
                                {Py_tp_getset, properties},
                                {Py_tp_methods, methods},
                                {0, nullptr}};
  static PyType_Spec spec = {.name = "autophi.OpFunction",
                             .basicsize = sizeof(OpFunction),
                             .itemsize = 0,
                             .flags = Py_TPFLAGS_DEFAULT | Py_TPFLAGS_HAVE_VECTORCALL |
                                      Py_TPFLAGS_METHOD_DESCRIPTOR |
                                      Py_TPFLAGS_DISALLOW_INSTANTIATION | Py_TPFLAGS_IMMUTABLETYPE,
                             .slots = slots};
  return reinterpret_cast<PyTypeObject*>(checked(PyType_FromSpec(&spec)));
}

PyObject* make_function(const OpEntry& entry) {
  PHI_CHECK(entry.arguments.size() <= kMaxArguments,
            errors::Internal("operator {} has {} arguments; kMaxArguments of frame.h is {}.",
                             entry.name, entry.arguments.size(), kMaxArguments));
  auto* function = PyObject_New(OpFunction, function_type);
  if (function == nullptr) throw_python_error();
  function->vectorcall = call_operator;
  function->entry = &entry;
  function->name = checked(PyUnicode_InternFromString(entry.name));
  function->none_is_default = 0;
  for (size_t i = 0; i < entry.arguments.size(); ++i) {
    const OpArgument& argument = entry.arguments[i];
    function->names[i] = checked(PyUnicode_InternFromString(argument.name));
    if (argument.by_default != nullptr && std::string_view(argument.by_default) == "None") {
      function->none_is_default |= uint64_t{1} << i;
    }
  }
  return reinterpret_cast<PyObject*>(function);
}

}  // namespace

void add_op_function(PyObject* ops, const OpEntry& entry) {
  const PyRef function(make_function(entry));
  checked(PyObject_SetAttrString(ops, entry.name, function.get()));
  if (!entry.is_method) return;
  checked(
      PyObject_SetAttrString(reinterpret_cast<PyObject*>(tensor_type), entry.name, function.get()));
}

void make_op_functions(PyObject* ops) {
  function_type = make_type();
  for (const std::span<const OpEntry> entries : op_entries()) {
    for (const OpEntry& entry : entries) add_op_function(ops, entry);
  }
}

}  // namespace phi::python
