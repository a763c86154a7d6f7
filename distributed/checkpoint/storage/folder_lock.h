// FolderLock: an exclusive lock on a folder, so that one job at a time saves to it. The system
// releases the lock when the process ends for any reason.
//
//   const FolderLock lock("runs/a");      // an error that names who has it, if somebody does
#pragma once

#include <string>

namespace phi::distributed::checkpoint {

class FolderLock {
 public:
  /// The locked file in the folder; it contains the holder's identity.
  static constexpr const char* kFile = ".autophi.lock";

  /// Creates the folder if necessary. If the file system has no locks, logs a warning and
  /// continues.
  ///
  /// Errors   AlreadyExists with the holder's process, machine and start if another holder has the
  ///          folder, also within this process. Unavailable with the system's reason.
  explicit FolderLock(const std::string& folder);
  ~FolderLock();
  FolderLock(const FolderLock&) = delete;
  FolderLock& operator=(const FolderLock&) = delete;

  const std::string& folder() const { return folder_; }

 private:
  bool try_lock();

  std::string folder_;
  std::string path_;
  int fd_ = -1;
};

}  // namespace phi::distributed::checkpoint
