// Fibers: cooperative threads with separate stacks, run in turn by one thread of the process.
#pragma once

#include <cstddef>

namespace cuda_on_cpu {

/// Runs `entry` on a separate stack, in steps from resume() to the next leave(). Fibers are known
/// to the sanitizers: to AddressSanitizer as a stack, to ThreadSanitizer as a thread. A switch
/// between fibers does not order them for ThreadSanitizer.
class Fiber {
 public:
  explicit Fiber(void (*entry)());  // `entry` never returns
  Fiber(const Fiber&) = delete;

  /// Runs the fiber until it leaves. Call on the scheduler's stack.
  void resume();
  /// Returns to the scheduler. Call on this fiber's stack.
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
/// With ThreadSanitizer each CUDA thread has its own fiber, so that the sanitizer distinguishes
/// them.
inline constexpr bool kFibersAreThreads = true;
/// Orders fibers for ThreadSanitizer: code before order_after(token) happens before code after
/// order_before(token) on another fiber.
void order_before(void* token);
void order_after(void* token);
#else
inline constexpr bool kFibersAreThreads = false;
inline void order_before(void* /*token*/) {}
inline void order_after(void* /*token*/) {}
#endif

}  // namespace cuda_on_cpu
