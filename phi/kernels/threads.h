// How many threads the libraries behind the kernels use in this process.
#pragma once

namespace phi {

/// Gives this process its share of the cores: cores / `ranks_on_machine`, at least 1. What the user
/// says with OMP_NUM_THREADS or OPENBLAS_NUM_THREADS stays. Without this, every rank would start a
/// thread per core and the ranks would fight over them.
void share_cores(int ranks_on_machine);

/// From now on a child of fork() computes with one thread: OpenMP would wait for those of the
/// parent, which a child has not. (OpenBLAS makes new ones.)
void use_one_thread_in_forked_children();

}  // namespace phi
