// Fibers: stacks of their own that one thread of the process runs in turn.
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Runs `entry` on a stack of its own, from one resume() to the next leave(). Sanitizers know: to
/// AddressSanitizer it is a stack, to ThreadSanitizer a thread, which a switch orders with no
/// other.
class Fiber {
 public:
  explicit Fiber(void (*entry)());  // never returns
  Fiber(const Fiber&) = delete;

  /// On the scheduler's stack: runs the fiber until it leaves.
  void resume();
  /// On this fiber's stack: back to the scheduler.
  void leave();

 private:
  static void begin();

  void (*entry_)();
  std::byte* stack_;
  void* context_;
  void* tsan_ = nullptr;
  void* fake_stack_ = nullptr;
};

/// Whether each CUDA thread must have a fiber to itself, so that ThreadSanitizer tells them apart.
bool fibers_are_threads();
/// What lies before order_after(token) lies before what follows order_before(token) on another
/// fiber: only for ThreadSanitizer.
void order_before(void* token);  // acquire
void order_after(void* token);   // release

}  // namespace cuda_on_cpu
