// Fault injection for the NCCL emulator. Ranks are threads; a rank is identified by its GPU.
// reset() of cuda_on_cpu.h undoes all settings.
#pragma once

#include <nccl.h>

#include <cstdint>

namespace cuda_on_cpu {

/// The result of ncclGetVersion, which ranks compare when they create a communicator.
void set_nccl_version(int version);
/// Sets the version for the rank with this GPU only.
void set_nccl_version(int gpu, int version);
/// Stops the rank with this GPU after `calls` more calls: its later calls never execute, and its
/// streams block until it aborts. If `error` is an error, its communicators report it from then on.
void stop_nccl_rank(int gpu, int calls, ncclResult_t error = ncclSuccess);
/// Makes the call that ends an abort of the rank with this GPU (ncclCommAbort or its group) return
/// only after reset().
void hang_nccl_abort(int gpu);
/// The same for the end of a group of calls.
void hang_nccl_calls(int gpu);
/// The same for ncclCommFinalize.
void hang_nccl_finalize(int gpu);
/// Number of polls until a call in progress completes. By default drawn from 1 to 4.
void delay_nccl(uint64_t polls);
/// Error that communicators report when another of their ranks has aborted or reports an error. By
/// default they report nothing, and their messages wait for that rank.
void set_nccl_error_of_peers(ncclResult_t error);

}  // namespace cuda_on_cpu
