// The properties of Tensor.
#include <optional>
#include <string>

#include "api/autograd/autograd.h"
#include "api/generated/ops/transpose.h"
#include "python/src/base/dtype.h"
#include "python/src/base/errors.h"
#include "python/src/base/py_ref.h"
#include "python/src/distributed/mesh.h"
#include "python/src/tensor/tensor_object.h"
#include "python/src/tensor/tensor_slots.h"

namespace phi::python {
namespace {

template <auto kGet>
PyObject* get(PyObject* self, void* /*closure*/) {
  return guarded([&] { return kGet(tensor_of(self)); });
}

PyObject* shape(const Tensor& x) {
  const Dims& dims = x.shape();
  PyRef tuple(checked(PyTuple_New(dims.ndim())));
  for (int i = 0; i < dims.ndim(); ++i) {
    PyTuple_SET_ITEM(tuple.get(), i, checked(PyLong_FromLongLong(dims[i])));
  }
  return tuple.release();
}

PyObject* dtype(const Tensor& x) { return Py_NewRef(dtype_object(x.dtype())); }
PyObject* ndim(const Tensor& x) { return PyLong_FromLong(x.ndim()); }
PyObject* size(const Tensor& x) { return PyLong_FromLongLong(x.numel()); }
PyObject* place(const Tensor& x) { return PyUnicode_FromString(x.place().to_string().c_str()); }
PyObject* nbytes_here(const Tensor& x) { return PyLong_FromSize_t(x.nbytes_here()); }
PyObject* is_dist(const Tensor& x) { return PyBool_FromLong(x.is_dist()); }
PyObject* initialized(const Tensor& x) { return PyBool_FromLong(x.initialized()); }
PyObject* is_leaf(const Tensor& x) { return PyBool_FromLong(x.is_leaf()); }
PyObject* requires_grad(const Tensor& x) { return PyBool_FromLong(x.requires_grad()); }
PyObject* sharding(const Tensor& x) { return PyUnicode_FromString(x.to_string().c_str()); }
PyObject* process_mesh(const Tensor& x) {
  return x.is_dist() ? mesh_object(x.mesh()) : Py_NewRef(Py_None);
}
PyObject* placements(const Tensor& x) {
  return x.is_dist() ? placements_object(x.placements()) : Py_NewRef(Py_None);
}

// Reduces partial sums, which is collective.
PyObject* grad_property(const Tensor& x) {
  GilRelease others(x.is_dist());
  Tensor gradient = x.grad();
  others.end();
  return to_python(std::move(gradient));
}

PyObject* transposed(const Tensor& x) {
  std::vector<int> axes;
  for (int i = x.ndim(); i-- > 0;) axes.push_back(i);
  GilRelease others(is_long_work(x));
  Tensor out = transpose(x, axes);
  others.end();
  return to_python(std::move(out));
}

int set_requires_grad(PyObject* self, PyObject* value, void* /*closure*/) {
  return guarded_status([&] {
    if (value == nullptr) raise(PyExc_AttributeError, "requires_grad cannot be deleted");
    tensor_of(self).set_requires_grad(converted<bool>(value, {"Tensor", "requires_grad"}));
    return 0;
  });
}

int clear_grad(PyObject* self, PyObject* value, void* /*closure*/) {
  return guarded_status([&] {
    if (value != nullptr && value != Py_None) {
      raise(PyExc_ValueError,
            "grad can be set to None only, which clears it; got " + describe(value));
    }
    tensor_of(self).clear_grad();
    return 0;
  });
}

}  // namespace

PyGetSetDef* tensor_properties() {
  static PyGetSetDef properties[] = {
      {"shape", get<shape>, nullptr, "Global shape, a tuple; the same on every rank.", nullptr},
      {"dtype", get<dtype>, nullptr, "Dtype of the elements: autophi.float32, ...", nullptr},
      {"ndim", get<ndim>, nullptr, "Number of tensor dims.", nullptr},
      {"size", get<size>, nullptr, "Number of elements of the global shape.", nullptr},
      {"place", get<place>, nullptr, "Device that stores the data: 'cpu' or 'gpu:0'.", nullptr},
      {"nbytes_here", get<nbytes_here>, nullptr, "Bytes stored on this rank.", nullptr},
      {"initialized", get<initialized>, nullptr, "Whether this rank stores data of it.", nullptr},
      {"is_dist", get<is_dist>, nullptr, "Whether it is distributed over a mesh.", nullptr},
      {"process_mesh", get<process_mesh>, nullptr, "The mesh; None for a plain tensor.", nullptr},
      {"placements", get<placements>, nullptr,
       "Placements, one per mesh dim; None for a plain tensor.", nullptr},
      {"sharding", get<sharding>, nullptr,
       "Shape, dtype and placements, as text: 'f32[8,4] [S0] on mesh(x=2)'.", nullptr},
      {"is_leaf", get<is_leaf>, nullptr, "Whether no tracked operation created it.", nullptr},
      {"requires_grad", get<requires_grad>, set_requires_grad,
       "Whether operations on it are tracked.", nullptr},
      {"grad", get<grad_property>, clear_grad,
       "Accumulated gradient of a leaf, None if it has none. Collective over the mesh of a "
       "distributed tensor. Setting None clears it.",
       nullptr},
      {"T", get<transposed>, nullptr, "Transpose: the tensor dims in reverse order.", nullptr},
      {nullptr, nullptr, nullptr, nullptr, nullptr}};
  return properties;
}

}  // namespace phi::python
