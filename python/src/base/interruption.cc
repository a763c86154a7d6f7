// Connects the library's polling for interruptions to the interpreter's signal handlers.
#include "python/src/base/interruption.h"

#include <nanobind/nanobind.h>

#include <atomic>

#include "phi/common/process/handler_stack.h"
#include "phi/common/process/interruption.h"
#include "python/src/base/shared_reference.h"

namespace phi::python {
namespace {

std::atomic<unsigned long> main_thread{0};

void give_handlers_a_stack() {
  static const auto* const for_as_long_as_the_process = new HandlerStack;
  static_cast<void>(for_as_long_as_the_process);
}

// Python runs signal handlers on the main thread only, so other threads need not acquire the GIL.
void raise_what_signals_raise() {
  if (PyThread_get_thread_ident() != main_thread.load(std::memory_order_relaxed)) return;
  give_handlers_a_stack();
  const GilLock lock;
  if (!lock.taken() || PyErr_Occurred() != nullptr) return;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}

}  // namespace

void let_signals_interrupt() {
  const nanobind::object main = nanobind::module_::import_("threading").attr("main_thread")();
  main_thread = nanobind::cast<unsigned long>(main.attr("ident"));
  if (PyThread_get_thread_ident() == main_thread) give_handlers_a_stack();
  set_interruption_handler(&raise_what_signals_raise);
}

}  // namespace phi::python
