// Runs the blocks of a grid, one after the other, each CUDA thread on a fiber.
//
// A thread runs until it waits; a warp until all its lanes wait for the block; then comes the next
// warp. So warps run ahead of each other, in orders that the seed draws. One grid runs at a time in
// the process.
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
  std::vector<SharedArray> shared;  // fresh ones hold NaN, in each block anew
};
void run_grid(const Grid& grid);

/// The kernel, block and thread that run now, for the text of an error.
std::string where_now();

}  // namespace cuda_on_cpu
