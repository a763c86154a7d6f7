// What kernels do, counted while their PTX runs: instructions, and how well the accesses of a warp
// share transactions (wmma.load, whose order is the hardware's, is left out).
// AUTOPHI_CUDA_PTX_COUNTS names the file for it, a line of JSON for each
// kernel.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>

#include "support/cuda_on_cpu/ptx/program.h"

namespace cuda_on_cpu::ptx {

struct Counts {
  uint64_t threads = 0;
  uint64_t instructions = 0;
  uint64_t global_bytes = 0;    // that threads read and write,
  uint64_t global_sectors = 0;  // and sectors of 32 bytes that warps touch for it, at each request
  uint64_t shared_passes = 0;
  uint64_t shared_passes_at_best = 0;  // if no bank were asked for two words
};

/// Whether anybody counts, decided when the program starts.
extern const bool kCounts;

/// A thread of the kernel begins, and ends having run this many instructions.
void count_begin(const Function& kernel);
void count_end(size_t instructions);
/// The thread that is due reads or writes here.
void count_access(const Instruction& instruction, Frame& frame, const std::byte* address,
                  size_t size);
/// Of each kernel, by its name, up to the last block that has ended.
const std::map<std::string, Counts>& counted();

}  // namespace cuda_on_cpu::ptx
