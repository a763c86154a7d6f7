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

#if defined(CUDA_ON_CPU_TSAN)
/// Each CUDA thread has a fiber to itself, so that ThreadSanitizer tells them apart.
inline constexpr bool kFibersAreThreads = true;
/// What lies before order_after(token) lies before what follows order_before(token) on another
/// fiber.
void order_before(void* token);
void order_after(void* token);
#else
inline constexpr bool kFibersAreThreads = false;
inline void order_before(void* /*token*/) {}
inline void order_after(void* /*token*/) {}
#endif

}  // namespace cuda_on_cpu
