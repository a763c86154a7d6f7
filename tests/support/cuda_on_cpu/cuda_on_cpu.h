// Controls of the twin (CUDA on the CPU) for tests: which GPUs there are, in which order what runs,
// and what goes wrong.
// The environment says the same for whole programs: AUTOPHI_CUDA_SEED is a number, "forward" or
// "backward"; AUTOPHI_CUDA_GPUS a number. CUDA_VISIBLE_DEVICES selects among the GPUs by their
// numbers, as CUDA does; it is read when the program starts, by reset() and by set_gpus().
#pragma once

#include <driver_types.h>

#include <chrono>
#include <cstddef>
#include <cstdint>

namespace cuda_on_cpu {

/// In which order warps, blocks and streams go where CUDA promises none. Streams run what a waiter
/// needs and no more in the two fixed orders; in drawn ones others' work comes between.
enum class Order { kForward, kBackward, kDrawn };
void set_order(Order order, uint64_t seed = 1);

/// Number of GPUs, 8 if nobody says otherwise; 0 with a driver is cudaErrorNoDevice.
void set_gpus(int gpus);
/// Memory of each GPU; 80 GB if nobody says otherwise.
void set_memory_limit(size_t bytes);
/// Few, so that kernels that size their grid by it have more than one round of work.
void set_multiprocessors(int count);
/// What GPUs can do, 9.0 if nobody says otherwise.
void set_capability(int major, int minor);
/// Whether the program has code for these GPUs, as it has if nobody says otherwise; without it
/// asking for a kernel's attributes and launching it are cudaErrorNoKernelImageForDevice.
void set_code_fits(bool fits);
/// As cudaDriverGetVersion gives it, 13000 being CUDA 13.0; 0: no driver is installed.
void set_driver_version(int version);
/// How long all may wait without anything moving before the test fails as a deadlock.
void set_patience(std::chrono::milliseconds patience);

/// The next kernel that runs on any GPU fails with `error`, which then sticks to that GPU.
void fail_next_launch(cudaError_t error);
/// Kernels that ran in this process.
uint64_t launches();
/// Graphs that were launched in this process.
uint64_t graph_launches();
/// Undoes planted and sticky failures and takes all settings back to what the environment says.
void reset();

}  // namespace cuda_on_cpu
