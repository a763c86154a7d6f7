// Disk I/O by pread and pwrite on threads, for kernels without io_uring.
#include <unistd.h>

#include <cerrno>
#include <condition_variable>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "phi/common/process/yield_point.h"
#include "phi/memory/io/io_engine.h"

namespace phi::memory {
namespace {

class ThreadPoolEngine final : public IoEngine {
 public:
  explicit ThreadPoolEngine(int threads) {
    for (int i = 0; i < threads; ++i) threads_.emplace_back([this] { work(); });
  }
  ~ThreadPoolEngine() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    changed_.notify_all();
    for (std::thread& thread : threads_) thread.join();
  }

  const char* name() const override { return "thread_pool"; }
  void start(std::span<IoRequest* const> requests) override {
    {
      const std::lock_guard lock(mutex_);
      queue_.insert(queue_.end(), requests.begin(), requests.end());
    }
    yield_point("thread_pool.start.queued");
    changed_.notify_all();
  }

 private:
  void work() {
    while (IoRequest* request = next()) {
      yield_point("thread_pool.work.taken");
      std::byte* data = request->data + request->moved;
      const size_t nbytes = request->nbytes - request->moved;
      const auto offset = static_cast<off_t>(request->offset + request->moved);
      const ssize_t moved = request->kind == IoRequest::Kind::kRead
                                ? pread(request->fd, data, nbytes, offset)
                                : pwrite(request->fd, data, nbytes, offset);
      finish_attempt(request, moved < 0 ? -errno : moved);
    }
  }
  /// Waits for the next request. Returns null when the engine ends.
  IoRequest* next() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return stopping_ || !queue_.empty(); });
    if (queue_.empty()) return nullptr;
    IoRequest* request = queue_.front();
    yield_point("thread_pool.next.looked_at");
    queue_.pop_front();
    return request;
  }

  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<IoRequest*> queue_;
  bool stopping_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace

std::shared_ptr<IoEngine> make_thread_pool_engine(int threads) {
  return std::make_shared<ThreadPoolEngine>(threads);
}

}  // namespace phi::memory
