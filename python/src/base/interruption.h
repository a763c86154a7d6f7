// Lets Ctrl-C interrupt the library while it works or waits.
#pragma once

namespace phi::python {

/// Makes long work and long waits of the interpreter's main thread throw what Python's signal
/// handlers raise (KeyboardInterrupt). Also gives that thread an alternate signal stack, which
/// threads that compute need.
void let_signals_interrupt();

}  // namespace phi::python
