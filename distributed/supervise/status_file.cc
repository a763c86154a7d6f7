// One line of fixed length, written in one call, so a reader sees the old step or the new one.
#include "distributed/supervise/status_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <glog/logging.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>

#include "phi/common/errors.h"

namespace phi::distributed::supervise {

StatusFile::StatusFile(const std::string& path) : path_(path) {
  if (path.empty()) return;
  // O_NONBLOCK: do not wait for a reader if the path is a FIFO.
  fd_ = open(path.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | O_NONBLOCK, 0666);
  PHI_CHECK(fd_ >= 0, errors::Unavailable("cannot write the status file '{}': {}.", path,
                                          std::strerror(errno)));
  struct stat found {};
  if (fstat(fd_, &found) == 0 && S_ISREG(found.st_mode)) return;
  close(fd_);
  throw errors::InvalidArgument(
      "the status file '{}' exists and is not a regular file; use another.", path);
}

StatusFile::~StatusFile() {
  if (fd_ >= 0) close(fd_);
}

void StatusFile::write(int64_t step) {
  if (fd_ < 0) return;
  const std::string line = fmt::format("step {:012}\n", step);
  const ssize_t written = pwrite(fd_, line.data(), line.size(), 0);
  if (written == static_cast<ssize_t>(line.size()) || told_) return;
  told_ = true;
  LOG(WARNING) << "the status file '" << path_ << "' cannot be updated to step " << step << ": "
               << (written < 0 ? std::strerror(errno) : "its file system is full")
               << ". A monitor that reads it sees no progress.";
}

std::optional<int64_t> read_status(const std::string& path) {
  std::ifstream in(path);
  std::string word;
  int64_t step = 0;
  if (!(in >> word >> step) || word != "step" || step < 1) return std::nullopt;
  return step;
}

}  // namespace phi::distributed::supervise
