// Initialisers of parameters: autophi.nn.init, and Python functions.
#include <nanobind/stl/vector.h>

#include <utility>

#include "api/autograd/autograd.h"
#include "api/generated/ops/assign.h"
#include "api/nn/initialiser.h"
#include "python/src/base/convert.h"
#include "python/src/base/dtype.h"
#include "python/src/base/shared_reference.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/training/nn.h"

namespace phi::python {

namespace nb = nanobind;

namespace {

struct BoundInitialiser {
  nn::Initialiser make;
};

Tensor copied_as(const Tensor& value, DataType dtype) {
  const NoGrad no_grad;
  return value.dtype() == dtype ? assign(value.detach()) : value.detach().to(dtype);
}

Tensor call_initialiser(PyObject* function, const Dims& shape, DataType dtype, uint64_t seed) {
  const nb::gil_scoped_acquire lock;
  const nb::object made = nb::handle(function)(nb::tuple(nb::cast(shape.to_vector())),
                                               nb::borrow(dtype_object(dtype)), seed);
  if (!is_tensor(made.ptr()))
    refuse({"Parameter", "return value of the initialiser"}, "Tensor", made.ptr());
  return tensor_of(made.ptr());
}

}  // namespace

nn::Initialiser initialiser_from(nb::handle value) {
  if (const BoundInitialiser* bound = nullptr; nb::try_cast(value, bound) && bound != nullptr) {
    return bound->make;
  }
  if (is_tensor(value.ptr())) {
    return [given = tensor_of(value.ptr())](const Dims&, DataType dtype, uint64_t) {
      return copied_as(given, dtype);
    };
  }
  if (PyCallable_Check(value.ptr()) == 0) {
    refuse({"Parameter", "init"}, "an initialiser of autophi.nn.init, a Tensor or a function",
           value.ptr());
  }
  return [kept = shared_reference(value.ptr())](const Dims& shape, DataType dtype, uint64_t seed) {
    return call_initialiser(kept.get(), shape, dtype, seed);
  };
}

void bind_initialisers(nb::module_& nn_module) {
  nb::module_ init = nn_module.def_submodule("init");
  nb::class_<BoundInitialiser>(init, "Initialiser",
                               "Initial values of a parameter. They depend on its name and the "
                               "model's seed, not on the mesh.")
      .def(
          "__call__",
          [](const BoundInitialiser& self, const std::vector<int64_t>& shape, nb::handle dtype,
             uint64_t seed) {
            return self.make(shape, dtype_from(dtype.ptr(), {"Initialiser", "dtype"}), seed);
          },
          nb::arg("shape"), nb::arg("dtype") = "float32", nb::arg("seed") = 1,
          "Return a tensor with these values. Storage is allocated at first use.");
  const auto made = [](nn::Initialiser make) { return BoundInitialiser{std::move(make)}; };
  init.def(
      "constant", [made](double value) { return made(nn::constant(value)); }, nb::arg("value"));
  init.def(
      "normal", [made](double std, double mean) { return made(nn::normal(std, mean)); },
      nb::arg("std"), nb::arg("mean") = 0.0);
  init.def(
      "uniform", [made](double low, double high) { return made(nn::uniform(low, high)); },
      nb::arg("low"), nb::arg("high"), "Uniform values in [low, high).");
  init.def(
      "xavier_normal", [made] { return made(nn::xavier_normal()); },
      "Normal values for a matrix [in, out], with variance 2 / (in + out).");
  init.def(
      "xavier_uniform", [made] { return made(nn::xavier_uniform()); },
      "Uniform values for a matrix [in, out], with variance 2 / (in + out).");
  init.def(
      "kaiming_normal", [made] { return made(nn::kaiming_normal()); },
      "Normal values for a matrix [in, out], with variance 2 / in.");
  init.def(
      "kaiming_uniform", [made] { return made(nn::kaiming_uniform()); },
      "Uniform values for a matrix [in, out], with variance 2 / in.");
}

}  // namespace phi::python
