// Disk I/O by io_uring. A thread of the engine submits requests and reaps completions: a submission
// pins pages, which would cost the caller's time.
#include <glog/logging.h>
#include <liburing.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <deque>
#include <mutex>
#include <thread>
#include <vector>

#include "phi/common/process/yield_point.h"
#include "phi/memory/io/io_engine.h"

namespace phi::memory {
namespace {

constexpr unsigned kDepth = 128;  // requests that are in flight at once

class UringEngine final : public IoEngine {
 public:
  /// Takes ownership of the ring and the eventfd.
  UringEngine(const io_uring& ring, int wake_fd)
      : ring_(ring), wake_fd_(wake_fd), worker_([this] { work(); }) {}
  ~UringEngine() override {
    {
      const std::lock_guard lock(mutex_);
      stopping_ = true;
    }
    wake();
    worker_.join();
    io_uring_queue_exit(&ring_);
    close(wake_fd_);
  }

  const char* name() const override { return "io_uring"; }
  void start(std::span<IoRequest* const> requests) override {
    {
      const std::lock_guard lock(mutex_);
      waiting_.insert(waiting_.end(), requests.begin(), requests.end());
    }
    yield_point("uring.start.queued");
    if (std::this_thread::get_id() != worker_.get_id()) wake();
  }

 private:
  void wake() const { eventfd_write(wake_fd_, 1); }

  void work() {
    listen();
    while (submit_waiting()) {
      // An error means a signal, or that the kernel is short of memory. The next iteration tries
      // again.
      io_uring_submit_and_wait(&ring_, 1);
      yield_point("uring.work.woken");
      for (const auto [request, result] : take_ended()) {
        if (!request) {
          listen();
          continue;
        }
        --in_flight_;
        finish_attempt(request, result);
      }
    }
  }
  /// Submits a read of the eventfd, so that wake() ends a wait for completions.
  void listen() {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);
    io_uring_prep_read(sqe, wake_fd_, &wakes_, sizeof(wakes_), 0);
    io_uring_sqe_set_data(sqe, nullptr);
  }
  /// Prepares waiting requests, up to kDepth in flight. Returns false when the engine ends.
  bool submit_waiting() {
    const std::lock_guard lock(mutex_);
    for (; in_flight_ < kDepth && !waiting_.empty(); ++in_flight_) {
      prepare(*waiting_.front());
      yield_point("uring.submit.prepared");
      waiting_.pop_front();
    }
    return !stopping_;
  }
  void prepare(const IoRequest& request) {
    io_uring_sqe* sqe = io_uring_get_sqe(&ring_);  // never null: the ring has 2 * kDepth entries
    std::byte* data = request.data + request.moved;
    const auto nbytes = static_cast<unsigned>(request.nbytes - request.moved);
    const uint64_t offset = request.offset + request.moved;
    if (request.kind == IoRequest::Kind::kRead) {
      io_uring_prep_read(sqe, request.fd, data, nbytes, offset);
    } else {
      io_uring_prep_write(sqe, request.fd, data, nbytes, offset);
    }
    // IOSQE_ASYNC, because this thread would otherwise copy bytes of the page cache itself.
    if (!request.direct) io_uring_sqe_set_flags(sqe, IOSQE_ASYNC);
    io_uring_sqe_set_data(sqe, const_cast<IoRequest*>(&request));
  }
  struct Ended {
    IoRequest* request;  // null: the read of the eventfd, after wake()
    int result;
  };
  std::vector<Ended> take_ended() {
    std::vector<Ended> out;
    unsigned head = 0, count = 0;
    io_uring_cqe* cqe = nullptr;
    io_uring_for_each_cqe(&ring_, head, cqe) {
      out.push_back({static_cast<IoRequest*>(io_uring_cqe_get_data(cqe)), cqe->res});
      ++count;
    }
    io_uring_cq_advance(&ring_, count);
    return out;
  }

  io_uring ring_;  // only worker_ uses it
  int wake_fd_;
  eventfd_t wakes_ = 0;
  unsigned in_flight_ = 0;
  std::mutex mutex_;  // guards waiting_ and stopping_
  std::deque<IoRequest*> waiting_;
  bool stopping_ = false;
  std::thread worker_;
};

}  // namespace

std::shared_ptr<IoEngine> make_uring_engine() {
  io_uring ring;
  const int result = io_uring_queue_init(2 * kDepth, &ring, 0);
  if (result < 0) {
    VLOG(1) << "the kernel refuses io_uring: " << std::strerror(-result);
    return nullptr;
  }
  const int wake_fd = eventfd(0, EFD_CLOEXEC);
  if (wake_fd < 0) {
    VLOG(1) << "no eventfd: " << std::strerror(errno);
    io_uring_queue_exit(&ring);
    return nullptr;
  }
  return std::make_shared<UringEngine>(ring, wake_fd);
}

}  // namespace phi::memory
