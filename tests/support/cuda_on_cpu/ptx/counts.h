// Counts of what kernels do while their PTX runs: instructions, and how well the memory accesses of
// a warp coalesce. wmma.load is excluded, because the hardware determines its access order.
// AUTOPHI_CUDA_PTX_COUNTS names the output file, which has one line of JSON per kernel.
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
  uint64_t global_bytes = 0;    // bytes that threads read and write
  uint64_t global_sectors = 0;  // 32-byte sectors that warps access for them, per request
  uint64_t shared_passes = 0;
  uint64_t shared_passes_at_best = 0;  // passes without bank conflicts
};

/// Whether counting is enabled; set at program start.
extern const bool kCounts;

/// A thread of the kernel begins, or ends after running this many instructions.
void count_begin(const Function& kernel);
void count_end(size_t instructions);
/// The running thread reads or writes at `address`.
void count_access(const Instruction& instruction, Frame& frame, const std::byte* address,
                  size_t size);
/// Counts per kernel name, up to the last block that has ended.
const std::map<std::string, Counts>& counted();

}  // namespace cuda_on_cpu::ptx
