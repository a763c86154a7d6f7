// IoEngine: the interface between AsyncFile and the operating system: it attempts reads and writes
// asynchronously. Tests replace it for fault injection.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace phi::memory {

class IoGroup;

/// One request. It is attempted until all its bytes have moved. Its address must not change until
/// it has ended.
struct IoRequest {
  enum class Kind : uint8_t { kRead, kWrite };
  Kind kind = Kind::kRead;
  int fd = -1;
  bool direct = true;
  uint64_t offset = 0;
  std::byte* data = nullptr;
  size_t nbytes = 0;
  /// Bytes that must move, at most nbytes. Less than nbytes for a read across the end of the file.
  size_t required = 0;
  size_t moved = 0;   // bytes that have moved; the next attempt begins after them
  int fruitless = 0;  // consecutive attempts without progress
  IoGroup* group = nullptr;
};

class IoEngine {
 public:
  virtual ~IoEngine() = default;
  virtual const char* name() const = 0;
  /// Attempts the part of each request after `moved`, and calls finish_attempt() once for each, now
  /// or later, from any thread.
  virtual void start(std::span<IoRequest* const> requests) = 0;

 protected:
  /// Reports the result of an attempt: the number of bytes moved, or -errno. Starts the request
  /// again if it is incomplete. The request may be destroyed when this returns.
  void finish_attempt(IoRequest* request, int64_t result);
};

/// kBest: the engine in the environment variable AUTOPHI_IO_ENGINE (io_uring or thread_pool) if it
/// is set; otherwise io_uring if the kernel and the build support it, else the thread pool.
enum class IoEngineKind : uint8_t { kBest, kUring, kThreadPool };

/// Creates an engine. Errors: Unavailable for io_uring if it is not supported; InvalidArgument for
/// another value of AUTOPHI_IO_ENGINE.
std::shared_ptr<IoEngine> make_io_engine(IoEngineKind kind = IoEngineKind::kBest);

/// Returns null if the build or the kernel does not support io_uring.
std::shared_ptr<IoEngine> make_uring_engine();
/// An engine that calls pread and pwrite on `threads` threads.
std::shared_ptr<IoEngine> make_thread_pool_engine(int threads = 4);

}  // namespace phi::memory
