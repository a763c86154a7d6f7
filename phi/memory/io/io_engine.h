// IoEngine: carries out attempts at reading and writing files, asynchronously. AsyncFile is what
// others use; this is the seam between it and the kernel, where tests put faults.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

namespace phi::memory {

class IoGroup;

/// One request, attempted until all its bytes have moved. It stays where it is until it has ended.
struct IoRequest {
  enum class Kind : uint8_t { kRead, kWrite };
  Kind kind = Kind::kRead;
  int fd = -1;
  bool direct = true;
  uint64_t offset = 0;
  std::byte* data = nullptr;
  size_t nbytes = 0;
  /// Of a read at the end of a file: as many must come, at most nbytes.
  size_t required = 0;
  size_t moved = 0;   // what the next attempt begins after
  int fruitless = 0;  // attempts in a row that did not get further
  IoGroup* group = nullptr;
};

class IoEngine {
 public:
  virtual ~IoEngine() = default;
  virtual const char* name() const = 0;
  /// Attempts the part behind `moved` of each request and calls finish_attempt() once for each,
  /// now or later, from any thread.
  virtual void start(std::span<IoRequest* const> requests) = 0;

 protected:
  /// `result` is as pread's and pwrite's: bytes moved, or -errno. Starts the request again if
  /// something is left of it; it may be gone after this call.
  void finish_attempt(IoRequest* request, int64_t result);
};

/// kBest is io_uring where the kernel and the build have it, else the thread pool, or what the
/// environment variable AUTOPHI_IO_ENGINE says: io_uring or thread_pool.
enum class IoEngineKind : uint8_t { kBest, kUring, kThreadPool };

/// Errors: Unavailable for kUring where there is none; InvalidArgument for another word in the
/// environment.
std::shared_ptr<IoEngine> make_io_engine(IoEngineKind kind = IoEngineKind::kBest);

/// Null where the build or the kernel has no io_uring.
std::shared_ptr<IoEngine> make_uring_engine();
/// pread and pwrite on `threads` threads.
std::shared_ptr<IoEngine> make_thread_pool_engine(int threads = 4);

}  // namespace phi::memory
