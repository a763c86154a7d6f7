// HandlerStack: while it lives the thread that made it handles signals on a stack of their own.
//
// For threads that compute: oneDNN's products keep their workspace where the system takes the
// thread's stack to be, so a signal that is handled there writes over numbers and over the heap.
// Handlers need SA_ONSTACK, too; those of Python have it.
#pragma once

#include <cstddef>
#include <memory>

namespace phi {

class HandlerStack {
 public:
  /// Errors: Unavailable where the system refuses.
  HandlerStack();
  /// On the same thread.
  ~HandlerStack();
  HandlerStack(const HandlerStack&) = delete;
  HandlerStack& operator=(const HandlerStack&) = delete;

 private:
  std::unique_ptr<std::byte[]> memory_;  // null: the thread has one from elsewhere
};

}  // namespace phi
