// The Python type autophi.Tensor: a handle to a tensor. Copies of a handle share the tensor.
//
// The type uses the C API directly: each call of an operator creates one object and reads several,
// which must be cheap compared with the call.
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

/// autophi.Tensor; null until make_tensor_type has run.
extern PyTypeObject* tensor_type;

/// Makes the type and adds it to the module.
void make_tensor_type(PyObject* module);

inline bool is_tensor(PyObject* object) {
  return Py_TYPE(object) == tensor_type || PyType_IsSubtype(Py_TYPE(object), tensor_type) != 0;
}
/// The tensor of an object. Requires is_tensor(object).
inline Tensor& tensor_of(PyObject* object) {
  return reinterpret_cast<TensorObject*>(object)->tensor;
}
/// The object that contains this handle. Requires a reference that tensor_of returned.
inline PyObject* owner_of(Tensor& tensor) {
  return reinterpret_cast<PyObject*>(reinterpret_cast<char*>(&tensor) -
                                     offsetof(TensorObject, tensor));
}

/// Returns a new object, or None for an undefined tensor. Returns null with the interpreter's error
/// set if memory is exhausted.
PyObject* to_python(Tensor tensor);
/// Returns a list of such objects.
PyObject* to_python(std::vector<Tensor> tensors);

/// Releases the GIL for its lifetime (or until end()), for long waits and long work.
class GilRelease {
 public:
  explicit GilRelease(bool released = true) : thread_(released ? PyEval_SaveThread() : nullptr) {}
  ~GilRelease() { end(); }
  GilRelease(const GilRelease&) = delete;
  GilRelease& operator=(const GilRelease&) = delete;
  void end() {
    if (thread_ != nullptr) PyEval_RestoreThread(std::exchange(thread_, nullptr));
  }

 private:
  PyThreadState* thread_;
};

/// Work on plain tensors of fewer elements takes less time than releasing and acquiring the GIL
/// may.
inline constexpr int64_t kShortWork = 4096;

/// Whether work on this tensor may take long or wait for other ranks.
inline bool is_long_work(const Tensor& x) { return x.is_dist() || x.numel() >= kShortWork; }

}  // namespace phi::python

// Lets functions that nanobind wraps accept and return tensors.
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
