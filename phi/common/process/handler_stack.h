// HandlerStack: sets an alternate signal stack for the calling thread.
//
// Threads that compute need one: oneDNN's GEMM places its workspace where the kernel assumes the
// thread's stack, so a handler on that stack would overwrite numbers and the heap. Handlers must
// also be installed with SA_ONSTACK; Python's are.
#pragma once

#include <cstddef>
#include <memory>

namespace phi {

class HandlerStack {
 public:
  /// Errors: Unavailable if the system call fails.
  HandlerStack();
  /// Must run on the thread that constructed the object.
  ~HandlerStack();
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;  // null: the thread already had a signal stack
};

}  // namespace phi
