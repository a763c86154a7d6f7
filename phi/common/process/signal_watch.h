// SignalWatch: while it lives, signals that ask a process to stop, or to save, are noted and not
// obeyed at once, so that a program comes to a point where it can.
//
//   SignalWatch signals;
//   while (work_left() && signals.stop() == 0) work();
//
// SIGTERM, SIGINT and SIGUSR2 ask to stop, SIGUSR1 to save and go on. (mpirun passes SIGUSR1 and
// SIGUSR2 on to its ranks; those that end it itself it does not, and it kills the ranks soon
// after.) A second signal to stop is obeyed at once: who sends two does not want to wait.
//
// The thread that makes it may compute: handlers run on a stack of their own (handler_stack.h).
#pragma once

#include "phi/common/process/handler_stack.h"

namespace phi {

class SignalWatch {
 public:
  enum class Second {
    kObeyed,  // a second signal to stop means what it did before
    kNoted    // it is counted
  };

  /// Several of a process (ranks that are threads) share what has come; `second` is the first
  /// one's. The thread that makes one also ends it.
  explicit SignalWatch(Second second = Second::kObeyed);
  /// When the last one goes signals mean again what they did before.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The signal that has asked to stop; 0: none so far.
  int stop() const;
  /// How many of them have come.
  int stops() const;
  /// SIGUSR1 has come since the last call.
  bool take_save();

 private:
  HandlerStack stack_;
};

}  // namespace phi
