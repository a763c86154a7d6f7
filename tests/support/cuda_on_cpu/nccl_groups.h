// The group of calls that is open in a thread.
#pragma once

#include "support/cuda_on_cpu/nccl_types.h"

namespace cuda_on_cpu::nccl {

bool in_group();
/// A call in it was refused: its end says so, and launches nothing.
void refuse_group(ncclResult_t error);
void add_to_group(ncclComm& comm, cudaStream_t stream, const Call& call);

/// A communicator that is aborted.
struct Aborted {
  const ncclComm* comm;
  Ends ends;  // of what it had in streams
};
void add_to_group(Aborted aborted);
/// Returns when nothing of it is left. Not under the lock.
void wait_for_end(const Aborted& aborted);

/// How often it is asked for what is in progress until that is done. Under the lock.
uint64_t drawn_polls();

}  // namespace cuda_on_cpu::nccl
