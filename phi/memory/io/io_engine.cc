// Handles the results of attempts, and chooses an engine.
#include "phi/memory/io/io_engine.h"

#include <glog/logging.h>

#include <cerrno>
#include <cstdlib>
#include <string_view>

#include "phi/common/errors.h"
#include "phi/common/process/yield_point.h"
#include "phi/memory/io/aligned_buffer.h"
#include "phi/memory/io/io_group.h"

namespace phi::memory {
namespace {

// Number of consecutive attempts without progress after which a request fails.
constexpr int kFruitlessLimit = 8;

enum class Next : uint8_t { kAgain, kEnd, kFail };

/// Adds the moved bytes to the request and returns what to do next. Direct I/O can continue only at
/// a page boundary.
Next advance(IoRequest* request, int64_t result) {
  const size_t before = request->moved;
  if (result > 0) {
    request->moved += static_cast<size_t>(result);
    if (request->moved >= request->required) return Next::kEnd;
    if (request->direct) request->moved = request->moved / kPage * kPage;
  } else if (result < 0 && result != -EINTR && result != -EAGAIN) {
    return Next::kFail;
  } else if (result == 0 && request->moved >= request->required) {
    return Next::kEnd;
  }
  request->fruitless = request->moved > before ? 0 : request->fruitless + 1;
  return request->fruitless < kFruitlessLimit ? Next::kAgain : Next::kFail;
}

IoEngineKind kind_from_environment() {
  const char* word = std::getenv("AUTOPHI_IO_ENGINE");
  if (!word) return IoEngineKind::kBest;
  if (std::string_view(word) == "io_uring") return IoEngineKind::kUring;
  PHI_CHECK(
      std::string_view(word) == "thread_pool",
      errors::InvalidArgument("AUTOPHI_IO_ENGINE is '{}'; use io_uring or thread_pool.", word));
  return IoEngineKind::kThreadPool;
}

}  // namespace

void IoEngine::finish_attempt(IoRequest* request, int64_t result) {
  yield_point("io_engine.finish_attempt");
  switch (advance(request, result)) {
    case Next::kAgain:
      return start({&request, 1});
    case Next::kEnd:
      return request->group->end(*request, 0);
    case Next::kFail:
      return request->group->end(*request,
                                 result < 0 ? static_cast<int>(-result) : IoGroup::kEndedEarly);
  }
}

std::shared_ptr<IoEngine> make_io_engine(IoEngineKind kind) {
  if (kind == IoEngineKind::kBest) kind = kind_from_environment();
  if (kind == IoEngineKind::kThreadPool) return make_thread_pool_engine();
  if (auto engine = make_uring_engine()) return engine;
  PHI_CHECK(kind == IoEngineKind::kBest,
            errors::Unavailable("this build or this kernel has no io_uring; use thread_pool."));
  VLOG(1) << "no io_uring here: disk I/O goes through a thread pool.";
  return make_thread_pool_engine();
}

}  // namespace phi::memory
