// Controls of the stand-in of NCCL for tests: what goes wrong. Ranks are threads, and one is named
// by its GPU. reset() of cuda_on_cpu.h undoes all of it.
#pragma once

#include <nccl.h>

#include <cstdint>

namespace cuda_on_cpu {

/// What ncclGetVersion says, and what ranks compare when they make a communicator.
void set_nccl_version(int version);
/// The same for the rank with this GPU alone.
void set_nccl_version(int gpu, int version);
/// What the rank with this GPU posts after `calls` more calls never comes: its streams stand there,
/// until it aborts. If `error` is one, its communicators report it from then on.
void stop_nccl_rank(int gpu, int calls, ncclResult_t error = ncclSuccess);
/// What ends an abort of the rank with this GPU, ncclCommAbort or its group, returns after reset()
/// only.
void hang_nccl_abort(int gpu);
/// The same of the end of a group of calls.
void hang_nccl_calls(int gpu);
/// The same of ncclCommFinalize.
void hang_nccl_finalize(int gpu);
/// What is in progress is done when it has been asked for this often; unless it is set, a drawn
/// number of 1 to 4 times.
void delay_nccl(uint64_t polls);
/// What communicators report when another of their ranks has aborted or reports an error. Unless it
/// is set they report nothing, and their messages wait for that rank.
void set_nccl_error_of_peers(ncclResult_t error);

}  // namespace cuda_on_cpu
