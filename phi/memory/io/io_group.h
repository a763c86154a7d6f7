// IoGroup: the requests that one ticket waits for, and what went wrong with them first.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "phi/memory/io/async_file.h"

namespace phi::memory {

/// What a group's requests belong to; lives until the last of them has ended.
struct IoTarget {
  int fd = -1;
  bool direct = true;
  std::string name;
  std::shared_ptr<IoEngine> engine;
};

class IoGroup {
 public:
  /// Of a read, what lies beyond `file_size` need not come.
  IoGroup(std::shared_ptr<const IoTarget> target, IoRequest::Kind kind,
          std::span<const FilePiece> pieces, uint64_t file_size, AsyncFile::Check check);

  void start();
  bool done() const;
  /// Until all have ended.
  void join() const;
  /// join(), and throws what went wrong first.
  void wait() const;

  /// Called by the engine, once for each request, when it has ended: with 0, with an errno, or with
  /// kEndedEarly. The group may be gone after this.
  void end(const IoRequest& request, int error);
  static constexpr int kEndedEarly = -1;

 private:
  struct Failure {
    IoRequest request;
    int error = 0;
    std::string damage;  // what the check says
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
