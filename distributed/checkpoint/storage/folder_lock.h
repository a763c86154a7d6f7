// FolderLock: a folder that one job at a time saves to. The system lets go of the lock when the
// process ends, however it ends.
//
//   const FolderLock lock("runs/a");      // an error that names who has it, if somebody does
#pragma once

#include <string>

namespace phi::distributed::checkpoint {

class FolderLock {
 public:
  /// The file in the folder that is locked; it says who holds it.
  static constexpr const char* kFile = ".autophi.lock";

  /// Makes the folder if need be. Errors: AlreadyExists with the holder's process, machine and
  /// start if another has the folder, also within this process; Unavailable: the system's reason. A
  /// file system that has no locks is told in a warning, and used.
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
