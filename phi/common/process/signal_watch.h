// SignalWatch: defers signals that request a stop or a save, so that the program can handle them at
// a suitable point.
//
//   SignalWatch signals;
//   while (work_left() && signals.stop() == 0) work();
//
// SIGTERM, SIGINT and SIGUSR2 request a stop; SIGUSR1 requests a save, after which the program
// continues. mpirun forwards SIGUSR1 and SIGUSR2 to its ranks. It does not forward signals that
// terminate mpirun itself, and kills the ranks soon afterwards. By default a second signal to stop
// has its original effect at once, for users who do not want to wait.
//
// The thread that constructs a SignalWatch may compute: its handlers run on a separate stack
// (handler_stack.h).
#pragma once

#include "phi/common/process/handler_stack.h"

namespace phi {

class SignalWatch {
 public:
  enum class Second {
    kObeyed,  // a second signal to stop has its original effect
    kNoted    // a second signal to stop is only counted
  };

  /// All objects of a process (one per rank that is a thread) share the received signals; `second`
  /// of the first one applies. The thread that constructs an object must also destroy it.
  explicit SignalWatch(Second second = Second::kObeyed);
  /// The last destructor restores the previous handlers.
  ~SignalWatch();
  SignalWatch(const SignalWatch&) = delete;
  SignalWatch& operator=(const SignalWatch&) = delete;

  /// The received signal that requests a stop; 0 if none.
  int stop() const;
  /// The number of received signals that request a stop.
  int stops() const;
  /// Returns whether SIGUSR1 was received since the last call.
  bool take_save();

 private:
  HandlerStack stack_;
};

}  // namespace phi
