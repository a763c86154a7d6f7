// The number of threads that numerical libraries use in this process.
#pragma once

namespace phi {

/// Limits this process to cores / `ranks_on_machine` threads, at least 1. OMP_NUM_THREADS and
/// OPENBLAS_NUM_THREADS take precedence. Without this limit every rank would start one thread per
/// core and oversubscribe the machine.
void share_cores(int ranks_on_machine);

/// Makes children of later fork() calls compute with one thread. OpenMP in a child would otherwise
/// wait for the parent's threads, which do not exist there. OpenBLAS creates new threads.
void use_one_thread_in_forked_children();

}  // namespace phi
