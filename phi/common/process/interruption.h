// poll_interruption: where long work and long waits let the program's user end them.
//
//   set_interruption(&throw_if_asked);                // once, by what knows of signals
//   while (!done()) { poll_interruption(); look(); }  // throws what throw_if_asked throws
//
// What is polled is left as by any error: a rank that is interrupted in a call has left the job's
// order. Layers, gradients and waits for ranks that are processes are polled; updates of parameters
// and captured steps are in their waits alone, so in one process a step that is cut short has
// changed nothing.
#pragma once

namespace phi {

/// From now on poll_interruption() calls `ask`, on whatever thread; null: nothing, as at first.
void set_interruption(void (*ask)());

/// Asks, at most twenty times a second on a thread; some nanoseconds else. Errors: what `ask`
/// throws.
void poll_interruption();

}  // namespace phi
