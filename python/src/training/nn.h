// Modules in Python: the layers of the library, and modules whose forward() is written in Python.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "api/call/call_site.h"
#include "api/nn/module.h"

namespace phi::python {

/// A module that is written in Python. The Python object owns it and outlives it.
class PythonLayer final : public nn::Layer {
 public:
  explicit PythonLayer(PyObject* self) : self_(self) {}

  /// Calls the object's forward(). May be called from any thread; acquires the GIL. Errors:
  /// TypeError if forward() does not return a tensor; its own exceptions.
  Tensor forward(const Tensor& x) const override;
  /// Calls the object's add_tensor_parallel(), if it has one.
  void add_tensor_parallel(nn::Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

  void declare_parameter(const std::string& name, const Dims& shape, nn::Initialiser initialiser) {
    parameter(name, shape, std::move(initialiser));
  }
  void declare_buffer(const std::string& name, Tensor value) { buffer(name, std::move(value)); }
  /// Returns x with the placements that the layout specifies for this module at `activation`.
  Tensor at(nn::ActivationSlot activation, const Tensor& x) const {
    return apply_placements(activation, x);
  }

 private:
  PyObject* self_;  // borrowed: the object contains this
};

/// Returns the C++ module of a Python object. Errors: AttributeError if its class has not called
/// super().__init__() yet.
nn::Layer& layer_of(nanobind::handle self);

/// Returns the location of the calling Python function, for explanations. The file's name lives
/// until the process ends. Requires the GIL.
CallSite python_site(const nn::Module& module);

/// Returns the Python object of the module: the one that owns it, or one that keeps `holder` alive,
/// of which it is a submodule.
nanobind::object module_object(nn::Module& module, nanobind::handle holder);

/// Shares ownership of a layer that a Python object owns.
std::shared_ptr<nn::Layer> shared_layer(nanobind::handle object);

/// Sets requires_grad on the module's trainable parameters.
void track_parameters(nn::Module& module);
/// Marks parameters that do not require a gradient as not trained, in their parameter group.
void freeze_untracked(nn::Module& module);

/// Constructs a layer without a parent at `self`.
template <typename L, typename... Args>
void make_model(L* self, Args&&... args) {
  nn::Module holder;  // a temporary parent, which releases the layer when it is destroyed
  new (self) L(holder, "layer", std::forward<Args>(args)...);
  track_parameters(*self);
}

void bind_modules(nanobind::module_& nn);
/// The part of bind_modules() for what a module contains.
void bind_module_state(nanobind::class_<nn::Layer, PythonLayer>& type);
void bind_layers(nanobind::module_& nn);
void bind_initialisers(nanobind::module_& nn);
void bind_layouts(nanobind::module_& nn);
void bind_models(nanobind::module_& nn);

/// Converts `value`: an initialiser of autophi.nn.init, a tensor, or a function (shape, dtype,
/// seed) that returns a tensor. Errors: TypeError for another value.
nn::Initialiser initialiser_from(nanobind::handle value);

}  // namespace phi::python
