// Builds without liburing: disk I/O goes through the thread pool.
#include "phi/memory/io/io_engine.h"

namespace phi::memory {

std::shared_ptr<IoEngine> make_uring_engine() { return nullptr; }

}  // namespace phi::memory
