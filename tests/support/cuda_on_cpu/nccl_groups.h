// The open NCCL group of a thread.
#pragma once

#include "support/cuda_on_cpu/nccl_types.h"

namespace cuda_on_cpu::nccl {

bool in_group();
/// Marks the open group as failed: its end returns `error` and launches nothing.
void refuse_group(ncclResult_t error);
void add_to_group(ncclComm& comm, cudaStream_t stream, const Call& call);

/// An aborted communicator.
struct Aborted {
  const ncclComm* comm;
  CompletionMarks ends;  // ends of its work in streams
};
void add_to_group(Aborted aborted);
/// Waits until none of its work is left. Call without the lock.
void wait_for_end(const Aborted& aborted);

/// Draws the number of polls until a call in progress completes. Requires the lock.
uint64_t drawn_polls();

}  // namespace cuda_on_cpu::nccl
