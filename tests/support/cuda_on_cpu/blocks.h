// Runs the blocks of a grid one after another, with one fiber per CUDA thread.
//
// A thread runs until it waits, and a warp until all its lanes wait for the block; then the next
// warp runs. Warps therefore run ahead of each other, in an order drawn from the seed. One grid
// runs at a time in the process.
#pragma once

#include <vector_types.h>

#include <functional>
#include <string>
#include <vector>

#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu {

inline constexpr int kWarp = 32;
inline constexpr int kMaxThreads = 1024;

struct Grid {
  const void* kernel;
  dim3 blocks;
  dim3 threads;
  const std::function<void()>* body;
  std::vector<SharedArray> shared;  // filled with NaN at the start of each block
};
void run_grid(const Grid& grid);

/// The running kernel, block and thread, for error messages.
std::string where_now();

}  // namespace cuda_on_cpu
