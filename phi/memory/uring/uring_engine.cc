// Disk I/O by io_uring: callers submit, one thread of the engine takes what has ended.
#include <glog/logging.h>
#include <liburing.h>

#include <cstring>
#include <deque>
#include <mutex>
#include <thread>

#include "phi/memory/io_engine.h"

namespace phi::memory {
namespace {

constexpr unsigned kDepth = 128;  // requests that the kernel has at once

class UringEngine final : public IoEngine {
 public:
  /// Takes over the ring.
  explicit UringEngine(const io_uring& ring) : ring_(ring), reaper_([this] { reap(); }) {}
  ~UringEngine() override {
    {
      const std::lock_guard lock(mutex_);
      io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
      io_uring_prep_nop(sqe);
      io_uring_sqe_set_data(sqe, nullptr);
      submit();
    }
    reaper_.join();
    io_uring_queue_exit(&ring_);
  }

  const char* name() const override { return "io_uring"; }
  void start(std::span<IoRequest* const> requests) override {
    const std::lock_guard lock(mutex_);
    waiting_.insert(waiting_.end(), requests.begin(), requests.end());
    feed();
  }

 private:
  /// Hands on as many requests as the kernel may have. Under the lock.
  void feed() {
    bool any = false;
    for (; in_flight_ < kDepth && !waiting_.empty(); ++in_flight_, any = true) {
      prepare(waiting_.front());
      waiting_.pop_front();
    }
    if (any) submit();
  }
  void prepare(IoRequest* request) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);  // there is one: the ring is emptied each time
    std::byte* data = request->data + request->moved;
    const auto nbytes = static_cast<unsigned>(request->nbytes - request->moved);
    const uint64_t offset = request->offset + request->moved;
    if (request->kind == IoRequest::Kind::kRead) {
      io_uring_prep_read(sqe, request->fd, data, nbytes, offset);
    } else {
      io_uring_prep_write(sqe, request->fd, data, nbytes, offset);
    }
    // From the page cache bytes would be copied here and now, by the caller.
    if (!request->direct) io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
    io_uring_sqe_set_data(sqe, request);
  }
  void submit() {
    // The kernel refuses for a moment when it is short of memory.
    while (io_uring_sq_ready(&ring_) > 0) {
      if (io_uring_submit(&ring_) < 0) std::this_thread::yield();
    }
  }
  void reap() {
    while (true) {
      io_uring_cqe* cqe = nullptr;
      if (io_uring_wait_cqe(&ring_, &cqe) != 0) continue;  // a signal
      auto* request = static_cast<IoRequest*>(io_uring_cqe_get_data(cqe));
      const int result = cqe->res;
      io_uring_cqe_seen(&ring_, cqe);
      if (!request) return;
      {
        const std::lock_guard lock(mutex_);
        --in_flight_;
        feed();
      }
      finish_attempt(request, result);
    }
  }

  io_uring ring_;
  std::mutex mutex_;  // of the submission side
  std::deque<IoRequest*> waiting_;
  unsigned in_flight_ = 0;
  std::thread reaper_;
};

}  // namespace

std::shared_ptr<IoEngine> make_uring_engine() {
  io_uring ring;
  const int result = io_uring_queue_init(2 * kDepth, &ring, 0);
  if (result < 0) {
    VLOG(1) << "the kernel refuses io_uring: " << std::strerror(-result);
    return nullptr;
  }
  return std::make_shared<UringEngine>(ring);
}

}  // namespace phi::memory
