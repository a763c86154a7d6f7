// One attempt to save to one folder: the work of one rank, on its own thread, without
// communication. A rank other than 0 leaves a receipt (receipt.h) when its file is on disk. Rank 0
// waits for all receipts, writes the index, and gives all files their names.
#pragma once

#include <chrono>
#include <cstdint>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/saving/rank_file.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {

/// This rank's work in a save, independent of the folder.
struct SaveWork {
  RankFile own;
  Index index;                 // without checksums and save id
  std::vector<int64_t> bytes;  // bytes that each rank writes; -1: no file
  bool in_background = false;  // whether the rank computes meanwhile
};

struct SaveTarget {
  std::string folder;
  std::string id;
  // Rank 0 only:
  std::shared_ptr<const FolderLock> lock;
  std::set<std::string> old_names;  // files that the previous index names
};

class SaveAttempt {
 public:
  /// kFailedLate: failed after the new index got its name.
  enum class State : int64_t { kRunning, kDone, kFailed, kFailedLate };

  SaveAttempt(World& world, std::shared_ptr<const SaveWork> work, SaveTarget target);
  /// Calls cancel(). Files that other ranks may rely on stay.
  ~SaveAttempt();
  SaveAttempt(const SaveAttempt&) = delete;
  SaveAttempt& operator=(const SaveAttempt&) = delete;

  State state() const;
  int64_t bytes_written() const;
  /// Waits until the state is not kRunning, at most for `time`.
  void wait_for(std::chrono::microseconds time);
  /// The error of a failed attempt; nullopt if it was given up.
  std::optional<Error> error() const;

  /// Ends the attempt soon. A thread that is blocked in the system is detached.
  void cancel();
  /// Removes this rank's files. Call it when it is certain that no index will name them.
  void discard() noexcept;

 private:
  class SaveThread;

  std::shared_ptr<SaveThread> run_;
  std::thread thread_;
};

}  // namespace phi::distributed::checkpoint
