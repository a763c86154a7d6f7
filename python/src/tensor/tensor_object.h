// The Python type autophi.Tensor: a handle on a tensor. Copying the handle shares the tensor.
//
// The type is made by hand: a call of an operator makes one object and looks at some, which should
// cost little beside the call.
#pragma once

#include <Python.h>
#include <nanobind/nanobind.h>

#include <utility>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi::python {

struct TensorObject {
  PyObject_HEAD PyObject* weak_references;
  Tensor tensor;  // defined, always
};

/// autophi.Tensor, when make_tensor_type has run.
extern PyTypeObject* tensor_type;

/// Makes the type and puts it into the module.
void make_tensor_type(PyObject* module);

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type) != 0;
}
/// Of an object that is_tensor.
inline Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
/// The object that has this handle, which is one of tensor_of.
inline PyObject* owner_of(Tensor& tensor) {
  return reinterpret_cast<PyObject*>(reinterpret_cast<char*>(&tensor) -
                                     offsetof(TensorObject, tensor));
}

/// A new object; None for an undefined tensor. Null with an error where there is no memory.
PyObject* to_python(Tensor tensor);
/// A list of them.
PyObject* to_python(std::vector<Tensor> tensors);

/// For long waits and long work: other threads of Python run meanwhile.
class WithoutGil {
 public:
  explicit WithoutGil(bool released = true) : thread_(released ? PyEval_SaveThread() : nullptr) {}
  ~WithoutGil() { end(); }
  WithoutGil(const WithoutGil&) = delete;
  WithoutGil& operator=(const WithoutGil&) = delete;
  void end() {
    if (thread_ != nullptr) PyEval_RestoreThread(std::exchange(thread_, nullptr));
  }

 private:
  PyThreadState* thread_;
};

/// Work on plain tensors of fewer elements than this takes less time than giving the lock away and
/// taking it back may.
inline constexpr int64_t kShortWork = 4096;

/// Work on this tensor may take long, or wait for other ranks.
inline bool is_long_work(const Tensor& x) { return x.is_dist() || x.numel() >= kShortWork; }

}  // namespace phi::python

// Functions that nanobind wraps take and give tensors.
template <>
struct nanobind::detail::type_caster<phi::Tensor> {
  NB_TYPE_CASTER(phi::Tensor, const_name("autophi.Tensor"))

  bool from_python(handle source, uint32_t /*flags*/, cleanup_list* /*cleanup*/) noexcept {
    if (!phi::python::is_tensor(source.ptr())) return false;
    value = phi::python::tensor_of(source.ptr());
    return true;
  }
  static handle from_cpp(const phi::Tensor& tensor, rv_policy /*policy*/,
                         cleanup_list* /*cleanup*/) noexcept {
    return phi::python::to_python(tensor);
  }
};
