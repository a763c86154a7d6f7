// StatusFile: a file with the current step of a job, rewritten in every step, for observers outside
// the job.
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
  /// Creates the file. With an empty path nothing is written. Errors: Unavailable with the system's
  /// reason; InvalidArgument if the path exists and is not a regular file.
  explicit StatusFile(const std::string& path);
  ~StatusFile();
  StatusFile(const StatusFile&) = delete;
  StatusFile& operator=(const StatusFile&) = delete;

  /// Steps count from 1. The first failed write is logged and no write throws: the job does not
  /// need the file, but an observer then takes the job for stalled.
  void write(int64_t step);

 private:
  std::string path_;
  int fd_ = -1;
  bool told_ = false;
};

/// The step in the file; nullopt if there is no file, or no step in it.
std::optional<int64_t> read_status(const std::string& path);

}  // namespace phi::distributed::supervise
