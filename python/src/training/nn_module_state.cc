// Binds what autophi.nn.Module contains: submodules, parameters, values, mode and dtype.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <map>
#include <optional>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "api/autograd/autograd.h"
#include "phi/common/errors.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/distributed/mesh.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/values.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;
using nn::Layer;
using nn::Module;

namespace {

nb::list named_list(const nn::NamedTensors& tensors) {
  nb::list list;
  for (const auto& [name, tensor] : tensors) list.append(nb::make_tuple(name, tensor));
  return list;
}

nb::dict state_dict(const Layer& module) {
  nb::dict dict;
  for (const auto& [name, tensor] : module.named_parameters()) dict[nb::cast(name)] = tensor;
  for (const auto& [name, tensor] : module.named_buffers()) dict[nb::cast(name)] = tensor;
  return dict;
}

nn::NamedTensors all_tensors(const Module& module) {
  nn::NamedTensors all = module.named_parameters();
  for (auto& buffer : module.named_buffers()) all.push_back(std::move(buffer));
  return all;
}

// Converts `given` to a value for a tensor of the model, with the tensor's dtype.
Tensor value_for_parameter(const std::string& name, const Tensor& now, nb::handle given) {
  const Tensor value =
      is_tensor(given.ptr()) ? tensor_of(given.ptr()) : tensor_from(given.ptr(), Py_None);
  PHI_CHECK(value.shape() == now.shape(),
            errors::InvalidArgument("'{}' of the model is {}, but its new value is {}.", name,
                                    now.to_string(), value.to_string()));
  return value;
}

void load_state_dict(Layer& module, nb::dict state, bool strict) {
  std::map<std::string, Tensor> values;
  std::vector<std::string> missing;
  std::set<std::string> wanted;
  for (const auto& [name, now] : all_tensors(module)) {
    wanted.insert(name);
    if (state.contains(name.c_str())) {
      values.emplace(name, value_for_parameter(name, now, state[name.c_str()]));
    } else {
      missing.push_back(name);
    }
  }
  std::vector<std::string> extra;
  for (auto [key, value] : state) {
    if (!wanted.contains(nb::cast<std::string>(key))) extra.push_back(nb::cast<std::string>(key));
  }
  PHI_CHECK(!strict || (missing.empty() && extra.empty()),
            errors::InvalidArgument(
                "load_state_dict: tensors of the model without a value: [{}]; values without a "
                "tensor in the model: [{}]. With strict=False both are ignored.",
                fmt::join(missing, ", "), fmt::join(extra, ", ")));
  const GilRelease others;
  const NoGrad no_grad;
  module.fill([&](const std::string& name, const Tensor& now) {
    const auto found = values.find(name);
    return found == values.end() ? now : found->second.detach().to(now.dtype());
  });
}

nb::list modules_of(nb::handle self, bool with_names) {
  nb::list list;
  Layer& module = layer_of(self);
  const size_t skip = module.path().empty() ? 0 : module.path().size() + 1;
  for (Module* each : module.modules()) {
    const nb::object object = each == &module ? nb::borrow(self) : module_object(*each, self);
    if (!with_names) {
      list.append(object);
    } else {
      list.append(nb::make_tuple(each == &module ? "" : each->path().substr(skip), object));
    }
  }
  return list;
}

nb::list children_of(nb::handle self, bool with_names) {
  nb::list list;
  for (Module* submodule : layer_of(self).submodules()) {
    const nb::object object = module_object(*submodule, self);
    if (with_names) {
      list.append(nb::make_tuple(submodule->own_name(), object));
    } else {
      list.append(object);
    }
  }
  return list;
}

void set_group(Layer& module, const std::string& pattern, std::optional<bool> decays, double rate,
               bool trained) {
  module.set_group(pattern, {.decays = decays, .rate = rate, .trained = trained});
  const auto groups = module.groups();
  size_t i = 0;
  for (auto& [name, tensor] : module.named_parameters()) {
    tensor.set_requires_grad(groups[i++].trained);
  }
}

void bind_contents(nb::class_<Layer, PythonLayer>& type) {
  type.def(
          "parameters", [](const Layer& self) { return self.parameters(); },
          "Return the parameters of this module and its submodules as a list.")
      .def(
          "named_parameters", [](const Layer& self) { return named_list(self.named_parameters()); },
          "Return (name in the model, tensor) pairs.")
      .def("named_buffers", [](const Layer& self) { return named_list(self.named_buffers()); })
      .def(
          "modules", [](nb::handle self) { return modules_of(self, false); },
          "Return this module and all its submodules, each module before its submodules.")
      .def(
          "named_modules", [](nb::handle self) { return modules_of(self, true); },
          "Return (path relative to this module, module) pairs.")
      .def("children", [](nb::handle self) { return children_of(self, false); })
      .def("named_children", [](nb::handle self) { return children_of(self, true); })
      .def_prop_ro(
          "path", [](const Layer& self) { return self.path(); },
          "Path in the model, such as 'layer0.attention'; '' for the model.")
      .def_prop_ro("num_parameters", &Layer::num_parameters,
                   "Number of elements of all parameters.")
      .def_prop_ro("parameter_bytes_here", &Layer::parameter_bytes_here,
                   "Bytes of the parameters on this rank.")
      .def_prop_ro(
          "process_mesh",
          [](const Layer& self) {
            return self.mesh() ? nb::steal(mesh_object(*self.mesh())) : nb::none();
          },
          "Mesh of this module, or of its pipeline stage; None before nn.shard().");
}

void bind_state(nb::class_<Layer, PythonLayer>& type) {
  type.def("state_dict", &state_dict,
           "Return parameters and buffers by name. The tensors are handles, not copies.")
      .def("load_state_dict", &load_state_dict, nb::arg("state_dict"), nb::arg("strict") = true,
           "Assign values to parameters and buffers by name.\n\n"
           "A value is a tensor, plain or distributed, or an array. It is resharded to the "
           "placements of the\n"
           "old value and cast to its dtype. Collective. ValueError for another shape, and for "
           "missing and\n"
           "extra names, which it lists.")
      .def(
          "train",
          [](nb::object self, bool mode) {
            layer_of(self).set_training(mode);
            return self;
          },
          nb::arg("mode") = true,
          "Set the mode of the model and return it. In training mode, Dropout is active.")
      .def("eval",
           [](nb::object self) {
             layer_of(self).set_training(false);
             return self;
           })
      .def_prop_ro("training", &Layer::is_training)
      .def(
          "to",
          [](nb::object self, nb::handle dtype) {
            const DataType wanted = dtype_from(dtype.ptr(), {"to", "dtype"});
            Layer& module = layer_of(self);
            GilRelease others;
            module.convert(wanted);
            others.end();
            return self;
          },
          nb::arg("dtype"),
          "Cast all parameters of the model to another floating dtype and return the model.")
      .def(
          "initialise",
          [](nb::object self, uint64_t seed, nb::handle dtype) {
            Layer& module = layer_of(self);
            const DataType wanted =
                dtype.is_none() ? module.dtype() : dtype_from(dtype.ptr(), {"initialise", "dtype"});
            GilRelease others;
            const NoGrad no_grad;
            module.initialise(seed, wanted);
            others.end();
            return self;
          },
          nb::arg("seed"), nb::arg("dtype").none() = nb::none(),
          "Initialise all parameters of the model again, with another seed, and return the model.")
      .def_prop_ro("seed", &Layer::seed)
      .def_prop_ro("dtype",
                   [](const Layer& self) { return nb::borrow(dtype_object(self.dtype())); })
      .def("set_group", &set_group, nb::arg("pattern"), nb::kw_only(),
           nb::arg("decays").none() = nb::none(), nb::arg("rate") = 1.0, nb::arg("trained") = true,
           "Set optimizer options of the parameters whose names match a pattern ('*.bias').\n\n"
           "`decays`: weight decay applies. `rate`: factor of their learning rate. `trained`: they "
           "are trained.");
}

}  // namespace

void bind_module_state(nb::class_<Layer, PythonLayer>& type) {
  bind_contents(type);
  bind_state(type);
}

}  // namespace phi::python
