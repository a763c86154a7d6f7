// Counts forks in the children. Process ids may be reused; a count is not.
#include "phi/common/process/fork_detector.h"

#include <pthread.h>

#include <atomic>

#include "phi/common/errors.h"

namespace phi {
namespace {

// Number of forks between the process that made the first mark and this one.
std::atomic<uint64_t> forks{0};

void count_forks() {
  static const int failed = pthread_atfork(nullptr, nullptr, [] { ++forks; });
  PHI_CHECK(failed == 0,
            errors::ResourceExhausted(
                "fork detection cannot be installed: the system has no memory for a handler."));
}

}  // namespace

ForkDetector::ForkDetector() {
  count_forks();
  forks_ = forks.load(std::memory_order_relaxed);
}

bool ForkDetector::is_of_this_process() const {
  return forks_ == forks.load(std::memory_order_relaxed);
}

}  // namespace phi
