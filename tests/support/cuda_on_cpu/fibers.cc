// Stack switching, with the notifications that sanitizers need. This library must not be
// instrumented by ThreadSanitizer, because its own bookkeeping would be reported as races of
// fibers.
#include "support/cuda_on_cpu/fibers.h"

#include <sys/mman.h>
#if !defined(__x86_64__)
#include <ucontext.h>
#endif
#if defined(__SANITIZE_ADDRESS__)
#include <sanitizer/common_interface_defs.h>
#endif

#include <cstdlib>

#include "support/cuda_on_cpu/failure.h"

#if defined(CUDA_ON_CPU_TSAN)
extern "C" {
void* __tsan_get_current_fiber();
void* __tsan_create_fiber(unsigned flags);
void __tsan_switch_to_fiber(void* fiber, unsigned flags);
void __tsan_acquire(void* token);
void __tsan_release(void* token);
}
#endif

namespace cuda_on_cpu {
namespace {

constexpr size_t kStack = size_t{256} << 10;
constexpr size_t kGuard = 4096;
// Stacks begin at different offsets of their pages, so that their ends do not share a few cache
// sets.
constexpr size_t kColours = 32;
constexpr size_t kColour = 128;

// The scheduler's context. One thread of the process schedules at a time.
void* scheduler_context = nullptr;
Fiber* running = nullptr;
#if defined(__SANITIZE_ADDRESS__)
void* scheduler_fake_stack = nullptr;
const void* scheduler_stack = nullptr;
size_t scheduler_stack_size = 0;
#endif
#if defined(CUDA_ON_CPU_TSAN)
void* scheduler_tsan = nullptr;
constexpr unsigned kNoOrder = 1;
#endif

std::byte* new_stack() {
  void* memory = mmap(nullptr, kStack + kGuard, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) fail("no memory for the stacks of CUDA threads");
  mprotect(memory, kGuard, PROT_NONE);  // guard page: a stack overflow raises SIGSEGV
  return static_cast<std::byte*>(memory) + kGuard;
}

#if defined(__x86_64__)
extern "C" void cuda_on_cpu_switch(void** from, void* to);
// Saves the callee-saved registers and the stack pointer, and loads those of the other context.
asm(R"(
.text
.globl cuda_on_cpu_switch
.type cuda_on_cpu_switch, @function
cuda_on_cpu_switch:
  pushq %rbp
  pushq %rbx
  pushq %r12
  pushq %r13
  pushq %r14
  pushq %r15
  movq %rsp, (%rdi)
  movq %rsi, %rsp
  popq %r15
  popq %r14
  popq %r13
  popq %r12
  popq %rbx
  popq %rbp
  ret
.size cuda_on_cpu_switch, .-cuda_on_cpu_switch
)");

constexpr int kSavedRegisters = 6;

void* new_context(std::byte* stack, void (*begin)()) {
  static size_t made = 0;
  auto* top = reinterpret_cast<void**>(stack + kStack - made++ % kColours * kColour);
  *--top = nullptr;  // unused return address of begin(); aligns the stack as after a call
  *--top = reinterpret_cast<void*>(begin);
  for (int i = 0; i < kSavedRegisters; ++i) *--top = nullptr;
  return top;
}

void switch_context(void*& from, void* to) { cuda_on_cpu_switch(&from, to); }
#else
void* new_context(std::byte* stack, void (*begin)()) {
  auto* context = new ucontext_t;
  getcontext(context);
  context->uc_stack.ss_sp = stack;
  context->uc_stack.ss_size = kStack;
  context->uc_link = nullptr;
  makecontext(context, begin, 0);
  return context;
}

void switch_context(void*& from, void* to) {
  if (from == nullptr) from = new ucontext_t;
  swapcontext(static_cast<ucontext_t*>(from), static_cast<ucontext_t*>(to));
}
#endif

}  // namespace

Fiber::Fiber(void (*entry)())
    : entry_(entry), stack_(new_stack()), context_(new_context(stack_, &Fiber::begin)) {
#if defined(CUDA_ON_CPU_TSAN)
  tsan_ = __tsan_create_fiber(0);
#endif
}

void Fiber::begin() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(nullptr, &scheduler_stack, &scheduler_stack_size);
#endif
  running->entry_();
  std::abort();
}

void Fiber::resume() {
  running = this;
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&scheduler_fake_stack, stack_, kStack);
#endif
#if defined(CUDA_ON_CPU_TSAN)
  scheduler_tsan = __tsan_get_current_fiber();
  __tsan_switch_to_fiber(tsan_, kNoOrder);
#endif
  switch_context(scheduler_context, context_);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(scheduler_fake_stack, nullptr, nullptr);
#endif
}

void Fiber::leave() {
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_start_switch_fiber(&fake_stack_, scheduler_stack, scheduler_stack_size);
#endif
#if defined(CUDA_ON_CPU_TSAN)
  __tsan_switch_to_fiber(scheduler_tsan, kNoOrder);
#endif
  switch_context(context_, scheduler_context);
#if defined(__SANITIZE_ADDRESS__)
  __sanitizer_finish_switch_fiber(fake_stack_, &scheduler_stack, &scheduler_stack_size);
#endif
}

#if defined(CUDA_ON_CPU_TSAN)
void order_before(void* token) { __tsan_acquire(token); }
void order_after(void* token) { __tsan_release(token); }
#endif

}  // namespace cuda_on_cpu
