// The status file: the step that a job is in, written again with every step, for whoever watches
// the job from outside.
//
//   StatusFile status("runs/gpt/supervise.status");
//   status.write(137);
//   read_status("runs/gpt/supervise.status");          // 137
#pragma once

#include <cstdint>
#include <optional>
#include <string>

namespace phi::distributed::supervise {

class StatusFile {
 public:
  /// Makes the file. An empty path: nothing is written. Errors: Unavailable with the system's
  /// reason; InvalidArgument for what is there and no file.
  explicit StatusFile(const std::string& path);
  ~StatusFile();
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;

  /// Steps count from 1. That one cannot be written is logged (the first time) and no error: the
  /// job is right without it, but who watches takes it to stand still.
  void write(int64_t step);

 private:
  std::string path_;
  int fd_ = -1;
  bool told_ = false;
};

/// Nothing if there is no file, or no step in it.
std::optional<int64_t> read_status(const std::string& path);

}  // namespace phi::distributed::supervise
