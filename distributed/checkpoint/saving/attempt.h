// One try to save into one folder: what one rank does, on a thread of its own, without any
// communication. Ranks other than 0 leave a receipt (receipt.h) when their file is on the disk;
// rank 0 waits for them all, writes the index, and gives all files their names.
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

/// What this rank does in a save, into whatever folder.
struct SaveWork {
  RankFile own;
  Index index;                 // without checksums and id
  std::vector<int64_t> bytes;  // that each rank writes; -1: it has no file
  bool in_background = false;  // while the rank computes
};

struct SaveTarget {
  std::string folder;
  std::string id;
  // Of rank 0 alone:
  std::shared_ptr<const FolderLock> lock;
  std::set<std::string> old_names;  // that the index before this one names
};

class Attempt {
 public:
  /// kFailedLate: when the new index was in place.
  enum class State : int64_t { kRunning, kDone, kFailed, kFailedLate };

  Attempt(World& world, std::shared_ptr<const SaveWork> work, SaveTarget target);
  /// As give_up(). What others may count on stays.
  ~Attempt();
  Attempt(const Attempt&) = delete;
  Attempt& operator=(const Attempt&) = delete;

  State state() const;
  int64_t bytes_written() const;
  /// Waits until the state is not kRunning, or so long.
  void wait_for(std::chrono::microseconds time);
  /// Why it failed; nothing if it was given up.
  std::optional<Error> error() const;

  /// Ends it soon. A thread that the system does not give back is left to itself.
  void give_up();
  /// Removes what this rank has written, when it is known that no index will name it.
  void discard() noexcept;

 private:
  class Run;

  std::shared_ptr<Run> run_;
  std::thread thread_;
};

}  // namespace phi::distributed::checkpoint
