// What kernels do, counted while their PTX runs: instructions, and how well the accesses of a warp
// share transactions. AUTOPHI_CUDA_PTX_COUNTS names the file for it, a line of JSON for each
// kernel.
#pragma once

#include <cstddef>

#include "support/cuda_on_cpu/ptx/program.h"

namespace cuda_on_cpu::ptx {

/// Whether anybody counts, decided when the program starts.
extern const bool kCounts;

/// A thread of the kernel begins, and ends having run this many instructions.
void count_begin(const Function& kernel);
void count_end(size_t instructions);
/// The thread that is due reads or writes here. `nth` is how often it has come to the instruction.
void count_access(const Function& function, const Instruction& instruction, size_t nth,
                  const std::byte* address, size_t size);

}  // namespace cuda_on_cpu::ptx
