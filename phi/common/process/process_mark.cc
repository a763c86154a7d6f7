// Forks are counted in the children: a process id can come back, a count cannot.
#include "phi/common/process/process_mark.h"

#include <pthread.h>

#include <atomic>

#include "phi/common/errors.h"

namespace phi {
namespace {

// Between this process and the one that made the first mark.
std::atomic<uint64_t> forks{0};

void count_forks() {
  static const int failed = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  PHI_CHECK(failed == 0, errors::ResourceExhausted("forks of this process cannot be watched: the "
                                                   "system has no memory for a handler."));
}

}  // namespace

ProcessMark::ProcessMark() {
  count_forks();
  forks_ = forks.load(std::memory_order_relaxed);
}

bool ProcessMark::is_of_this_process() const {
  return forks_ == forks.load(std::memory_order_relaxed);
}

}  // namespace phi
