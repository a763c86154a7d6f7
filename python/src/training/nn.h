// Modules in Python: those of C++, and those whose forward() is written in Python.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <memory>
#include <string>

#include "api/call/call_site.h"
#include "api/nn/module.h"

namespace phi::python {

/// A module that is written in Python. The object of Python holds it, and outlives it.
class PythonLayer final : public nn::Layer {
 public:
  explicit PythonLayer(PyObject* self) : self_(self) {}

  /// Calls forward() of the object, which gives a tensor. From any thread.
  Tensor forward(const Tensor& x) const override;
  /// Calls add_tensor_parallel() of the object, if its class has one.
  void add_tensor_parallel(nn::Layout* layout, const std::string& tp,
                           bool sequence_parallel) const override;

  void declare_parameter(const std::string& name, const Dims& shape, nn::Initialiser initialiser) {
    parameter(name, shape, std::move(initialiser));
  }
  void declare_buffer(const std::string& name, Tensor value) { buffer(name, std::move(value)); }
  /// As the layout says it of this module.
  Tensor at(nn::Point point, const Tensor& x) const { return laid_out(point, x); }

 private:
  PyObject* self_;  // borrowed: this lies in it
};

/// Where the calling function of Python is, for explanations; the file's name stays.
CallSite python_site(const nn::Module& module);

/// The module as an object: that of Python which holds it, or one that keeps `holder`, whose part
/// it is.
nanobind::object module_object(nn::Module& module, nanobind::handle holder);

/// Shares a layer that an object of Python holds.
std::shared_ptr<nn::Layer> shared_layer(nanobind::handle object);

/// Parameters of the module that are to be trained get requires_grad.
void track_parameters(nn::Module& module);
/// What requires no gradient is not trained: its group says so from here on.
void freeze_untracked(nn::Module& module);

/// Makes `self` a layer without a parent.
template <typename L, typename... Args>
void make_model(L* self, Args&&... args) {
  nn::Module holder;  // lets go of it at the end
  new (self) L(holder, "layer", std::forward<Args>(args)...);
  track_parameters(*self);
}

void bind_modules(nanobind::module_& nn);
void bind_layers(nanobind::module_& nn);
void bind_initialisers(nanobind::module_& nn);
void bind_layouts(nanobind::module_& nn);
void bind_models(nanobind::module_& nn);

/// `value` is an initialiser of autophi.nn.init, a tensor, or a function (shape, dtype, seed) that
/// gives one. Errors: TypeError.
nn::Initialiser initialiser_from(nanobind::handle value);

}  // namespace phi::python
