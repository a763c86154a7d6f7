// References to Python objects that C++ owns. They may be released on any thread, and after the
// interpreter has ended.
#pragma once

#include <Python.h>

#include <memory>

namespace phi::python {

/// Holds the GIL for its lifetime; the thread may hold it already. Does not acquire it if the
/// interpreter has ended or is ending, when it must not be called; see taken().
class GilLock {
 public:
  GilLock() : taken_(Py_IsInitialized() != 0 && !is_ending()) {
    if (taken_) state_ = PyGILState_Ensure();
  }
  ~GilLock() {
    if (taken_) PyGILState_Release(state_);
  }
  GilLock(const GilLock&) = delete;
  GilLock& operator=(const GilLock&) = delete;
  bool taken() const { return taken_; }

 private:
  // The thread that ends the interpreter holds the GIL and may still release objects.
  static bool is_ending() { return _Py_IsFinalizing() != 0 && PyGILState_Check() == 0; }

  bool taken_;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

/// Returns a reference to `object` that threads without the GIL may copy and release.
inline std::shared_ptr<PyObject> shared_reference(PyObject* object) {
  return {Py_NewRef(object), [](PyObject* kept) {
            if (const GilLock lock; lock.taken()) Py_DECREF(kept);
          }};
}

}  // namespace phi::python
