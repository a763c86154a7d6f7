// Objects of Python that C++ keeps: they may be let go of on any thread, and when the interpreter
// has ended.
#pragma once

#include <Python.h>

#include <memory>

namespace phi::python {

/// The interpreter's lock while it lives, for threads that may have it or not. Not taken where the
/// interpreter has ended or is ending, when nobody may call it.
class InterpreterLock {
 public:
  InterpreterLock() : taken_(Py_IsInitialized() != 0 && !is_ending()) {
    if (taken_) state_ = PyGILState_Ensure();
  }
  ~InterpreterLock() {
    if (taken_) PyGILState_Release(state_);
  }
  InterpreterLock(const InterpreterLock&) = delete;
  InterpreterLock& operator=(const InterpreterLock&) = delete;
  bool taken() const { return taken_; }

 private:
  // The thread that ends the interpreter has the lock, and may still let go of objects.
  static bool is_ending() { return _Py_IsFinalizing() != 0 && PyGILState_Check() == 0; }

  bool taken_;
  PyGILState_STATE state_ = PyGILState_UNLOCKED;
};

/// A reference to `object` that threads without the lock may copy and let go of.
inline std::shared_ptr<PyObject> keep(PyObject* object) {
  return {Py_NewRef(object), [](PyObject* kept) {
            if (const InterpreterLock lock; lock.taken()) Py_DECREF(kept);
          }};
}

}  // namespace phi::python
