// A flock on a file that is removed with the lock.
#include "distributed/checkpoint/storage/folder_lock.h"

#include <fcntl.h>
#include <fmt/chrono.h>
#include <glog/logging.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <string_view>
#include <utility>

#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

// The first line of the lock file.
std::string holder_in(int fd) {
  std::array<char, 256> text{};
  const ssize_t length = pread(fd, text.data(), text.size(), 0);
  const std::string_view all(text.data(), length > 0 ? static_cast<size_t>(length) : 0);
  const std::string_view line = all.substr(0, all.find('\n'));
  return line.empty() ? "an unknown process" : std::string(line);
}

std::string this_process() {
  std::array<char, 256> host{};
  gethostname(host.data(), host.size() - 1);
  return fmt::format("process {} on {}, since {:%Y-%m-%d %H:%M:%S} UTC\n", getpid(), host.data(),
                     fmt::gmtime(std::time(nullptr)));
}

// The previous holder may have removed the file between this process's open and its flock.
bool is_still_there(int fd, const std::string& path) {
  struct stat held {};
  struct stat named {};
  return fstat(fd, &held) == 0 && stat(path.c_str(), &named) == 0 && held.st_dev == named.st_dev &&
         held.st_ino == named.st_ino;
}

}  // namespace

FolderLock::FolderLock(const std::string& folder)
    : folder_(folder), path_((std::filesystem::path(folder) / kFile).string()) {
  make_folder(folder);
  while (!try_lock()) {
  }
}

// Returns false if the last holder has removed the file.
bool FolderLock::try_lock() {
  fd_ = open(path_.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0666);
  PHI_CHECK(fd_ >= 0,
            errors::Unavailable("'{}' cannot be created: {}.", path_, std::strerror(errno)));
  if (flock(fd_, LOCK_EX | LOCK_NB) != 0) {
    const int reason = errno;
    if (reason == EWOULDBLOCK) {
      const std::string holder = holder_in(fd_);
      close(std::exchange(fd_, -1));
      throw errors::AlreadyExists(
          "the folder '{}' is being written by {}; wait for it, or choose another folder.", folder_,
          holder);
    }
    LOG(WARNING) << "'" << folder_ << "' is on a file system without locks ("
                 << std::strerror(reason) << "); do not save there from another job.";
    return true;
  }
  if (!is_still_there(fd_, path_)) {
    close(std::exchange(fd_, -1));
    return false;
  }
  const std::string text = this_process();
  if (write(fd_, text.data(), text.size()) < 0) {
    LOG(WARNING) << "'" << path_ << "' cannot be written: " << std::strerror(errno);
  }
  return true;
}

// Removes the file before it releases the lock: a process that opened the file sees that its name
// is gone, and creates a new one.
FolderLock::~FolderLock() {
  if (fd_ < 0) return;
  unlink(path_.c_str());
  close(fd_);
}

}  // namespace phi::distributed::checkpoint
