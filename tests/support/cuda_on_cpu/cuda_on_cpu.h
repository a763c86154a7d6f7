// Controls of the CUDA emulator for tests: number and properties of GPUs, order of execution, and
// fault injection.
//
// The environment sets the same for whole programs: AUTOPHI_CUDA_SEED is a number, "forward" or
// "backward"; AUTOPHI_CUDA_GPUS is a number. CUDA_VISIBLE_DEVICES selects GPUs by number, as in
// CUDA. It is read at program start, by reset() and by set_gpus().
#pragma once

#include <driver_types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cuda_on_cpu {

/// Order of warps, blocks and streams where CUDA guarantees none. In the two fixed orders a wait
/// runs only the work that it needs. In drawn orders other work runs in between.
enum class Order { kForward, kBackward, kDrawn };
void set_order(Order order, uint64_t seed = 1);

/// Number of GPUs; default 8. With 0 GPUs and a driver, calls return cudaErrorNoDevice.
void set_gpus(int gpus);
/// Memory per GPU in bytes; default 80 GB.
void set_memory_limit(size_t bytes);
/// Number of multiprocessors. A small number makes grid-stride kernels run several rounds.
void set_multiprocessors(int count);
/// Compute capability; default 9.0.
void set_capability(int major, int minor);
/// Whether the program has code for these GPUs; default true. Otherwise querying a kernel's
/// attributes and launching it return cudaErrorNoKernelImageForDevice.
void set_code_fits(bool fits);
/// The result of cudaDriverGetVersion, for example 13000 for CUDA 13.0. 0: no driver is installed.
void set_driver_version(int version);
/// Time without any progress after which the test fails with a deadlock.
void set_patience(std::chrono::milliseconds patience);

/// Makes the next kernel on any GPU fail with `error`, which then sticks to that GPU.
void fail_next_launch(cudaError_t error);
/// Number of kernels that ran in this process.
uint64_t launches();
/// Number of graph launches in this process.
uint64_t graph_launches();
/// Clears injected and sticky failures and restores all settings from the environment.
void reset();

}  // namespace cuda_on_cpu
