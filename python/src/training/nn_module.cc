// Binds the class autophi.nn.Module: attributes that are submodules and parameters, and calls.
#include <cxxabi.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/nn/layout/shard.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "python/src/base/convert.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/base/shared_reference.h"
#include "python/src/distributed/mesh.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/values.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;
using nn::Layer;
using nn::Module;

namespace {

// Assigning one of these to an attribute declares a parameter or a buffer of the attribute's name.
struct DeclaredParameter {
  Dims shape;
  nn::Initialiser init;
};
struct DeclaredBuffer {
  Tensor value;
};

std::string class_name(const Module& module, nb::handle object) {
  if (object.is_valid())
    return nb::cast<std::string>(nb::handle(Py_TYPE(object.ptr())).attr("__name__"));
  int status = 0;
  char* text = abi::__cxa_demangle(typeid(module).name(), nullptr, nullptr, &status);
  const std::string whole = status == 0 ? text : "Module";
  std::free(text);
  return whole.substr(whole.rfind(':') + 1);
}

// The Python object that owns the module; null if C++ owns it.
nb::object object_of(const Module& module) {
  const auto* layer = dynamic_cast<const Layer*>(&module);
  return layer ? nb::find(*layer) : nb::object();
}

// Throws the error for a class whose __init__() has not called super().__init__() yet.
[[noreturn]] void refuse_unmade(nb::handle self) {
  const auto name = nb::cast<std::string>(nb::handle(Py_TYPE(self.ptr())).attr("__name__"));
  raise(PyExc_AttributeError,
        fmt::format("{} is not initialised: call super().__init__() first in {}.__init__()", name,
                    name));
}

// ---- attributes ----

// If a module has a single tensor, which is named after the module, its attribute name is `weight`.
const Tensor* tensor_named(const Module& module, const std::string& name) {
  const Tensor* found = module.own_tensor(name);
  return found == nullptr && name == "weight" ? module.own_tensor("") : found;
}

Module* submodule_named(const Module& module, const std::string& name) {
  for (Module* submodule : module.submodules()) {
    if (submodule->own_name() == name) return submodule;
  }
  return nullptr;
}

nb::object get_attribute(nb::handle self, const std::string& name) {
  const Layer& module = layer_of(self);
  if (const Tensor* tensor = tensor_named(module, name)) return nb::cast(*tensor);
  if (Module* submodule = submodule_named(module, name)) return module_object(*submodule, self);
  std::vector<std::string> names = module.own_tensor_names();
  for (const Module* submodule : module.submodules()) names.push_back(submodule->own_name());
  raise(PyExc_AttributeError, fmt::format("'{}' has no attribute '{}'{}", class_name(module, self),
                                          name, did_you_mean(name, names)));
}

bool is_module(nb::handle value) { return nb::isinstance<Layer>(value); }

const Module& model_of(const Module& module) {
  const Module* model = &module;
  while (model->parent() != nullptr) model = model->parent();
  return *model;
}

void set_plainly(nb::handle self, nb::handle name, nb::handle value) {
  checked(PyObject_GenericSetAttr(self.ptr(), name.ptr(), value.ptr()));
}

// A module that the model contains already is not added again: it is listed once, by its first
// name.
void add_submodule(Layer& module, const std::string& name, nb::handle value, bool flat) {
  Layer& submodule = layer_of(value);
  if (&submodule == submodule_named(module, name)) return;
  if (submodule.parent() != nullptr && &model_of(submodule) == &model_of(module)) return;
  if (submodule.parent() != nullptr) {
    raise(PyExc_ValueError,
          fmt::format("the module for '{}' is submodule '{}' of another model, and a module has "
                      "one parent. Within one model it can be assigned twice and is listed once: "
                      "add both parents to that model first. Or store it in a tuple, self.{} = "
                      "(module,), which lists none of its parameters",
                      name, submodule.path(), name));
  }
  if (Module* before = submodule_named(module, name)) module.remove_module(*before);
  module.add_module(submodule, flat ? nn::Name::flat(name) : nn::Name(name));
}

void add_parameter(PythonLayer& module, const std::string& name,
                   const DeclaredParameter& parameter) {
  module.declare_parameter(name, parameter.shape, parameter.init);
  track_parameters(module);
}

void set_attribute(nb::handle self, nb::str name, nb::handle value) {
  const bool is_plain = !is_module(value) && !nb::isinstance<DeclaredParameter>(value) &&
                        !nb::isinstance<DeclaredBuffer>(value);
  if (is_plain && !nb::inst_ready(self)) return set_plainly(self, name, value);
  Layer& module = layer_of(self);
  const std::string text = nb::cast<std::string>(name);
  auto* python = dynamic_cast<PythonLayer*>(&module);
  const DeclaredParameter* parameter = nullptr;
  const DeclaredBuffer* buffer = nullptr;
  if (nb::try_cast(value, parameter) && parameter != nullptr && python != nullptr) {
    return add_parameter(*python, text, *parameter);
  }
  if (nb::try_cast(value, buffer) && buffer != nullptr && python != nullptr) {
    return python->declare_buffer(text, buffer->value);
  }
  if (is_module(value)) {
    if (python == nullptr) {
      raise(PyExc_TypeError,
            fmt::format(
                "{}: '{}' would not run in forward(); add submodules of a Sequential with append()",
                class_name(module, self), text));
    }
    add_submodule(module, text, value, /*flat=*/false);
  } else if (const Tensor* own = tensor_named(module, text)) {
    // x.w += y assigns the tensor that it wrote to.
    if (is_tensor(value.ptr()) && same_tensor(*own, tensor_of(value.ptr()))) return;
    raise(PyExc_TypeError, fmt::format("{}: '{}' is a parameter or a buffer: write to it in place, "
                                       "or use load_state_dict()",
                                       class_name(module, self), text));
  }
  set_plainly(self, name, value);
}

void delete_attribute(nb::handle self, nb::str name) {
  Layer& module = layer_of(self);
  if (Module* submodule = submodule_named(module, nb::cast<std::string>(name)))
    module.remove_module(*submodule);
  set_plainly(self, name, nb::handle());
}

// ---- calls ----

Tensor result_tensor(const nb::object& result, const char* what) {
  if (!is_tensor(result.ptr())) refuse({what, "return value of forward()"}, "Tensor", result.ptr());
  return tensor_of(result.ptr());
}

nb::object apply_placements(const PythonLayer& layer, nn::ActivationSlot activation,
                            nb::object value) {
  if (layer.attr(activation) == nullptr || !is_tensor(value.ptr())) return value;
  const Tensor x = tensor_of(value.ptr());
  GilRelease others;
  Tensor out = layer.at(activation, x);
  others.end();
  return nb::cast(out);
}

// Calls forward() with any arguments. The first argument and the result get the placements of the
// layout.
nb::object call_python(const PythonLayer& layer, nb::handle self, nb::args args,
                       nb::kwargs kwargs) {
  const CallSite::Scope site(python_site(layer));
  if (args.size() > 0 && layer.attr(nn::ActivationSlot::kInput) != nullptr) {
    nb::list changed;
    changed.append(apply_placements(layer, nn::ActivationSlot::kInput, nb::borrow(args[0])));
    for (size_t i = 1; i < args.size(); ++i) changed.append(args[i]);
    return apply_placements(layer, nn::ActivationSlot::kOutput,
                            self.attr("forward")(*changed, **kwargs));
  }
  return apply_placements(layer, nn::ActivationSlot::kOutput,
                          self.attr("forward")(*args, **kwargs));
}

Tensor one_tensor(const Module& module, nb::handle self, const nb::args& args,
                  const nb::kwargs& kwargs) {
  if (args.size() != 1 || kwargs.size() != 0 || !is_tensor(args[0].ptr())) {
    raise(PyExc_TypeError,
          fmt::format("{} takes one Tensor{}", class_name(module, self),
                      args.size() == 1 && kwargs.size() == 0
                          ? ", got " + describe(args[0].ptr())
                          : fmt::format(", got {} arguments", args.size() + kwargs.size())));
  }
  return tensor_of(args[0].ptr());
}

nb::object call_module(nb::handle self, nb::args args, nb::kwargs kwargs) {
  const Layer& layer = layer_of(self);
  if (const auto* python = dynamic_cast<const PythonLayer*>(&layer)) {
    return call_python(*python, self, args, kwargs);
  }
  const Tensor x = one_tensor(layer, self, args, kwargs);
  const CallSite site = python_site(layer);
  GilRelease others;
  Tensor out = layer.call(x, site);
  others.end();
  return nb::cast(out);
}

nb::object forward(nb::handle self, nb::args args, nb::kwargs kwargs) {
  const Layer& layer = layer_of(self);
  if (dynamic_cast<const PythonLayer*>(&layer) != nullptr) {
    raise(PyExc_NotImplementedError,
          fmt::format("class {} has no method forward()", class_name(layer, self)));
  }
  const Tensor x = one_tensor(layer, self, args, kwargs);
  GilRelease others;
  Tensor out = layer.forward(x);
  others.end();
  return nb::cast(out);
}

// ---- text ----

void show_module(const Module& module, const std::string& indent, std::string* out) {
  std::vector<std::string> tensors;
  for (const std::string& own : module.own_tensor_names()) {
    tensors.push_back((own.empty() ? "weight" : own) + " " + module.own_tensor(own)->to_string());
  }
  *out += class_name(module, object_of(module)) + "(" + fmt::format("{}", fmt::join(tensors, ", "));
  if (module.submodules().empty()) {
    *out += ")";
    return;
  }
  for (const Module* submodule : module.submodules()) {
    *out += "\n" + indent + "  (" + submodule->own_name() + "): ";
    show_module(*submodule, indent + "  ", out);
  }
  *out += "\n" + indent + ")";
}

std::string repr(const Layer& module) {
  std::string text;
  show_module(module, "", &text);
  return text;
}

void bind_declarations(nb::module_& module) {
  nb::class_<DeclaredParameter>(
      module, "Parameter",
      "A parameter declaration. Assigning one to an attribute of a Module declares a parameter:\n\n"
      "    self.scale = nn.Parameter([64], init=nn.init.constant(1.0))\n"
      "    self.table = nn.Parameter(tensor)\n\n"
      "Storage is allocated at first use, for this rank's shard only.")
      .def(
          "__init__",
          [](DeclaredParameter* self, nb::handle shape, nb::handle init) {
            if (is_tensor(shape.ptr())) {
              new (self) DeclaredParameter{tensor_of(shape.ptr()).shape(), initialiser_from(shape)};
              return;
            }
            new (self) DeclaredParameter{
                converted<std::vector<int64_t>>(shape.ptr(), {"Parameter", "shape"}),
                init.is_none() ? nn::normal(0.02) : initialiser_from(init)};
          },
          nb::arg("shape"), nb::arg("init").none() = nb::none(),
          "Declare a parameter.\n\n"
          "`shape`: a list of extents, or a Tensor with the initial values. `init`: an initialiser "
          "of\n"
          "nn.init, a Tensor, or a function (shape, dtype, seed); default normal(0.02).");
  nb::class_<DeclaredBuffer>(
      module, "Buffer",
      "A buffer declaration. Assigning one to an attribute of a Module declares a buffer.\n\n"
      "A buffer is a tensor of the model that is saved with it and is not trained.")
      .def(nb::init<Tensor>(), nb::arg("value"));
}

// A copy of the Python object would have no submodules and parameters: the C++ module owns them.
[[noreturn]] void refuse_copy(nb::handle self, nb::args /*protocol*/) {
  raise(PyExc_TypeError,
        fmt::format("{} cannot be copied or pickled: construct another one and load the values, "
                    "other.load_state_dict(module.state_dict()); nn.save() writes them to a folder",
                    nb::cast<std::string>(nb::handle(Py_TYPE(self.ptr())).attr("__name__"))));
}

// Rejects a subclass of a C++ layer that defines forward(): Python would call it, but the library
// would not.
void check_subclass(nb::handle cls, nb::kwargs) {
  if (!nb::hasattr(cls, "forward") ||
      !nb::cast<bool>(cls.attr("__dict__").attr("__contains__")("forward"))) {
    return;
  }
  const nb::handle module = nb::type<Layer>();
  for (nb::handle base : nb::tuple(cls.attr("__mro__"))) {
    if (base.is(module)) return;
    const auto home = nb::cast<std::string>(base.attr("__module__"));
    if (!home.starts_with("autophi._autophi")) continue;
    raise(PyExc_TypeError, fmt::format("class {} overrides forward(), which nn.{} would not call; "
                                       "derive it from nn.Module, and use a {} as a submodule",
                                       nb::cast<std::string>(cls.attr("__name__")),
                                       nb::cast<std::string>(base.attr("__name__")),
                                       nb::cast<std::string>(base.attr("__name__"))));
  }
}

void bind_attributes(nb::class_<Layer, PythonLayer>& type) {
  type.def("__init__",
           [](nb::pointer_and_handle<Layer> self) { new (self.p) PythonLayer(self.h.ptr()); })
      .def("__getattr__", &get_attribute, nb::arg("name"))
      .def("__setattr__", &set_attribute, nb::arg("name"), nb::arg("value").none())
      .def("__delattr__", &delete_attribute, nb::arg("name"))
      .def("__call__", &call_module)
      .def("forward", &forward, "Compute the output for one input. Subclasses override it.")
      .def("__repr__", &repr)
      .def("__reduce_ex__", &refuse_copy)
      .def(
          "add_module",
          [](nb::handle self, nb::str name, nb::handle submodule, bool flat) {
            if (!is_module(submodule)) refuse({"add_module", "module"}, "Module", submodule.ptr());
            add_submodule(layer_of(self), nb::cast<std::string>(name), submodule, flat);
            set_plainly(self, name, submodule);
          },
          nb::arg("name"), nb::arg("module"), nb::kw_only(), nb::arg("flat") = false,
          "Add a submodule, like assigning it to the attribute.\n\n"
          "The name of a flat submodule is part of its path but not of its parameters' names: the\n"
          "parameters of 'attention' in 'layer0' are named 'layer0.qkv.weight'.");
}

}  // namespace

Layer& layer_of(nb::handle self) {
  if (!nb::inst_ready(self)) refuse_unmade(self);
  return nb::cast<Layer&>(self);
}

Tensor PythonLayer::forward(const Tensor& x) const {
  const nb::gil_scoped_acquire lock;
  const nb::object result = nb::handle(self_).attr("forward")(x);
  return result_tensor(result, Py_TYPE(self_)->tp_name);
}

void PythonLayer::add_tensor_parallel(nn::Layout* layout, const std::string& tp,
                                      bool sequence_parallel) const {
  const nb::gil_scoped_acquire lock;
  if (!nb::hasattr(nb::handle(self_), "add_tensor_parallel")) return;
  nb::handle(self_).attr("add_tensor_parallel")(nb::cast(layout, nb::rv_policy::reference), tp,
                                                sequence_parallel);
}

CallSite python_site(const nn::Module& module) {
  static std::set<std::string, std::less<>> files;  // under the interpreter's lock
  CallSite site{module.path().c_str(), nullptr, 0};
  PyFrameObject* frame = PyThreadState_GetFrame(PyThreadState_Get());
  if (frame == nullptr) return site;
  const PyRef owned_frame(reinterpret_cast<PyObject*>(frame));
  const PyRef code(reinterpret_cast<PyObject*>(PyFrame_GetCode(frame)));
  const char* name = PyUnicode_AsUTF8(reinterpret_cast<PyCodeObject*>(code.get())->co_filename);
  if (name == nullptr) {
    PyErr_Clear();
    return site;
  }
  const auto known = files.find(std::string_view(name));
  site.file = (known == files.end() ? files.insert(name).first : known)->c_str();
  site.line = static_cast<uint32_t>(PyFrame_GetLineNumber(frame));
  return site;
}

nb::object module_object(nn::Module& module, nb::handle holder) {
  if (nb::object own = object_of(module); own.is_valid()) return own;
  auto* layer = dynamic_cast<Layer*>(&module);
  PHI_CHECK(layer != nullptr, errors::Internal("module '{}' is not a Layer.", module.path()));
  nb::object object = nb::cast(layer, nb::rv_policy::reference);
  nb::keep_alive_obj(object, holder);
  return object;
}

std::shared_ptr<nn::Layer> shared_layer(nb::handle object) {
  Layer* layer = nb::cast<Layer*>(object);
  return {shared_reference(object.ptr()), layer};
}

void track_parameters(nn::Module& module) {
  const auto groups = module.groups();
  size_t i = 0;
  for (auto& [name, tensor] : module.named_parameters()) {
    if (groups[i++].trained && !tensor.requires_grad()) tensor.set_requires_grad();
  }
}

void freeze_untracked(nn::Module& module) {
  const auto groups = module.groups();
  size_t i = 0;
  for (const auto& [name, tensor] : module.named_parameters()) {
    nn::ParameterGroup group = groups[i++];
    if (tensor.requires_grad() == group.trained) continue;
    group.trained = tensor.requires_grad();
    module.set_group(name, group);
  }
}

void bind_modules(nb::module_& module) {
  bind_declarations(module);
  nb::class_<Layer, PythonLayer> type(
      module, "Module", nb::dynamic_attr(), nb::is_weak_referenceable(),
      "A module of a model: parameters, submodules, and forward().\n\n"
      "    class Net(nn.Module):\n"
      "        def __init__(self, d):\n"
      "            super().__init__()\n"
      "            self.up = nn.Linear(d, 4 * d)\n"
      "            self.scale = nn.Parameter([d], init=nn.init.constant(1.0))\n\n"
      "        def forward(self, x):\n"
      "            return self.up(x * self.scale)\n\n"
      "Attributes that are modules are submodules; their parameters are named by path, "
      "'up.weight'.\n"
      "Initial values depend on these names and the model's seed, and are computed at first use.");
  type.attr("__init_subclass__") =
      nb::module_::import_("builtins").attr("classmethod")(nb::cpp_function(&check_subclass));
  bind_attributes(type);
  bind_module_state(type);
}

}  // namespace phi::python
