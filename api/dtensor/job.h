// Joining and leaving a job, and this rank's place in it.
#pragma once

#include <chrono>
#include <cstdint>

namespace phi::distributed {

/// Joins the job that mpirun started. Without mpirun the job is this one process. Call it once,
/// before any other call. The ranks of a machine share its cores: each uses cores / ranks threads
/// unless OMP_NUM_THREADS is set. `start_deadline` bounds the wait for the other ranks; see
/// init_world (comm/world.h).
void init(int* argc, char*** argv,
          std::chrono::milliseconds start_deadline = std::chrono::milliseconds(0));
/// Leaves the job in order. Call it last; without init it does nothing.
void finalize();
int64_t rank();
int64_t world_size();

}  // namespace phi::distributed
