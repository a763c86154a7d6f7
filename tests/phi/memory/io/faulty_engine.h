// An engine that does I/O at once, on the caller's thread, and errs where a test says so.
#pragma once

#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <functional>

#include "phi/memory/io/io_engine.h"

namespace phi::memory {

class FaultyEngine final : public IoEngine {
 public:
  /// Given an attempt's number, from 0 on, and the bytes it asks for, says how many to move, or
  /// -errno.
  using Fault = std::function<int64_t(int64_t attempt, size_t nbytes)>;
  explicit FaultyEngine(Fault fault) : fault_(std::move(fault)) {}

  const char* name() const override { return "faulty"; }
  int64_t attempts() const { return attempts_; }
  void start(std::span<IoRequest* const> requests) override {
    for (IoRequest* request : requests) finish_attempt(request, attempt(*request));
  }

 private:
  int64_t attempt(const IoRequest& request) {
    const size_t asked = request.nbytes - request.moved;
    const int64_t allowed = fault_(attempts_++, asked);
    if (allowed <= 0) return allowed;
    std::byte* data = request.data + request.moved;
    const auto offset = static_cast<off_t>(request.offset + request.moved);
    const auto nbytes = static_cast<size_t>(allowed);
    const ssize_t moved = request.kind == IoRequest::Kind::kRead
                              ? pread(request.fd, data, nbytes, offset)
                              : pwrite(request.fd, data, nbytes, offset);
    return moved < 0 ? -errno : moved;
  }

  Fault fault_;
  std::atomic<int64_t> attempts_{0};
};

/// Nothing goes wrong.
inline int64_t no_fault(int64_t, size_t nbytes) { return static_cast<int64_t>(nbytes); }

}  // namespace phi::memory
