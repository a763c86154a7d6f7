// What polls for interruptions asks the interpreter.
#include "python/src/base/interruption.h"

#include <nanobind/nanobind.h>

#include <atomic>

#include "phi/common/handler_stack.h"
#include "phi/common/interruption.h"
#include "python/src/base/keep.h"

namespace phi::python {
namespace {

std::atomic<unsigned long> first_thread{0};

// Handlers run on the interpreter's first thread alone; others need not ask for its lock.
void raise_what_signals_raise() {
  if (PyThread_get_thread_ident() != first_thread.load(std::memory_order_relaxed)) return;
  const InterpreterLock lock;
  if (!lock.taken() || PyErr_Occurred() != nullptr) return;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace

void let_signals_interrupt() {
  first_thread = PyThread_get_thread_ident();
  static const auto* const for_as_long_as_the_process = new HandlerStack;
  static_cast<void>(for_as_long_as_the_process);
  set_interruption(&raise_what_signals_raise);
}

}  // namespace phi::python
