// poll_interruption: an interruption point in long work and long waits.
//
//   set_interruption_handler(&throw_if_asked);                // once, by what knows of signals
//   while (!done()) { poll_interruption(); look(); }  // throws what throw_if_asked throws
//
// The interrupted function ends as with any other error. A rank that is interrupted in a call no
// longer follows the job's order of calls. Interruption points are in layers, gradients, and waits
// for ranks that are processes. Updates of parameters and captured steps have them only in such
// waits. In a job of one process, an interrupted step has therefore changed nothing.
#pragma once

namespace phi {

/// Sets the function that poll_interruption() calls, on any thread. Null, the default, calls
/// nothing.
void set_interruption_handler(void (*handler)());

/// Calls the function of set_interruption_handler, at most twenty times a second per thread. Other
/// calls cost a few nanoseconds. Errors: those that the function throws.
void poll_interruption();

}  // namespace phi
