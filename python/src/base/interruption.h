// Ctrl-C while the library works or waits.
#pragma once

namespace phi::python {

/// From now on what Python's handlers of signals raise (KeyboardInterrupt) comes out of long work
/// and long waits of the calling thread, which must be the interpreter's first. It handles signals
/// on a stack of their own, as threads that compute must.
void let_signals_interrupt();

}  // namespace phi::python
