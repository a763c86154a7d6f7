// IoGroup: the requests of one Ticket, and their first error.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "phi/memory/io/async_file.h"

namespace phi::memory {

/// The file of a group's requests. It lives until the last of them has ended.
struct IoTarget {
  int fd = -1;
  bool direct = true;
  std::string name;
  std::shared_ptr<IoEngine> engine;
};

class IoGroup {
 public:
  /// Bytes of a read beyond `file_size` are not required.
  IoGroup(std::shared_ptr<const IoTarget> target, IoRequest::Kind kind,
          std::span<const FilePiece> pieces, uint64_t file_size, AsyncFile::Check check);

  void start();
  bool done() const;
  /// Blocks until all requests have ended.
  void join() const;
  /// Calls join(), then throws the first error if there is one.
  void wait() const;

  /// The engine calls this once for each request when it has ended. `error` is 0, an errno, or
  /// kEndedEarly. The group may be destroyed when this returns.
  void end(const IoRequest& request, int error);
  static constexpr int kEndedEarly = -1;

 private:
  struct Failure {
    IoRequest request;
    int error = 0;
    std::string damage;  // the description from the check
  };
  void add(IoRequest request, uint64_t file_size);
  Error error() const;

  std::shared_ptr<const IoTarget> target_;
  AsyncFile::Check check_;
  std::vector<IoRequest> requests_;
  mutable std::mutex mutex_;
  mutable std::condition_variable ended_;
  size_t pending_ = 0;
  std::optional<Failure> failure_;
};

}  // namespace phi::memory
