// Thread counts of OpenMP (oneDNN) and OpenBLAS.
#include "phi/kernels/threads.h"

#include <cblas.h>
#include <omp.h>
#include <pthread.h>

#include <algorithm>
#include <cstdlib>
#include <thread>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/matmul/openblas_buffer.h"

namespace phi {

void share_cores(int ranks_on_machine) {
  const int cores = static_cast<int>(std::thread::hardware_concurrency());
  const int share = std::max(1, cores / std::max(1, ranks_on_machine));
  if (std::getenv("OMP_NUM_THREADS") == nullptr) omp_set_num_threads(share);
  if (std::getenv("OMP_NUM_THREADS") == nullptr && std::getenv("OPENBLAS_NUM_THREADS") == nullptr &&
      openblas_may_have_threads()) {
    openblas_set_num_threads(share);
  }
}

void use_one_thread_in_forked_children() {
  static const int failed = pthread_atfork(nullptr, nullptr, [] { omp_set_num_threads(1); });
  PHI_CHECK(failed == 0,
            errors::ResourceExhausted(
                "fork detection cannot be installed: the system has no memory for a handler."));
}

}  // namespace phi
