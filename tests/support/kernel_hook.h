// KernelHook: sees every kernel that really runs, from within the calls of kernels: while it lives
// each function of the kernel registry begins with a jump that counts. No counter of the product is
// asked, and a program pays nothing while no hook lives.
//
//   const KernelHook hook;
//   relu(x);
//   EXPECT_EQ(KernelHook::runs_here(), 1);
//
// One at a time in a process, made while no kernel runs. A program that was captured (its steps
// know their kernels) is seen if it was captured while the hook lived.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "phi/core/kernel_registry.h"

namespace phi::testing {

class KernelHook {
 public:
  KernelHook();
  ~KernelHook();
  KernelHook(const KernelHook&) = delete;
  KernelHook& operator=(const KernelHook&) = delete;

  /// Kernels that the calling thread, which is a rank, has run so far.
  static int64_t runs_here();

 private:
  struct Hooked {
    Kernel* kernel;
    DataType dtype;
    Kernel::Erased function;
  };
  std::vector<Hooked> hooked_;
  void* code_ = nullptr;
  size_t code_bytes_ = 0;
};

}  // namespace phi::testing
