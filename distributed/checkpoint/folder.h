// CheckpointFolder: a job's checkpoints in one folder, each of them a save of its own:
// DIR/step-00000100, DIR/step-00000200, ...
//
//   const CheckpointFolder folder("runs/a");
//   save(folder.path_of(100), tensors);
//   folder.prune(3);
//   const auto newest = folder.newest_good(world);   // to resume from
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/comm/world.h"

namespace phi::distributed::checkpoint {

struct SavedStep {
  int64_t step = 0;
  std::string path;
  friend bool operator==(const SavedStep&, const SavedStep&) = default;
};

class CheckpointFolder {
 public:
  /// The folder need not be there.
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string path_of(int64_t step) const;

  struct Found {
    std::vector<SavedStep> complete;  // newest first
    std::vector<SavedStep> broken;    // likewise: saves that were cut off, or lost a file
    std::vector<std::string> faults;  // of the broken ones, what is wrong
  };
  /// Complete: the index can be read, and all files are there with the right headers. Their values
  /// are not read (verify.h). Errors: Unavailable if the folder cannot be read.
  Found find() const;

  /// Saves whose index is there, which were complete once, newest first: as rank 0 finds them, for
  /// a file system may show another rank an older state of the folder. Collective. Errors: the same
  /// on all ranks.
  std::vector<SavedStep> indexed(World& world) const;

  /// The newest checkpoint that is complete and of which every byte is as it was saved; nothing if
  /// there is none. Those that are newer are told in warnings of rank 0. Collective: each rank
  /// reads its share of the bytes. Errors: the same on all ranks.
  std::optional<SavedStep> newest_good(World& world) const;

  /// Leaves the newest `keep` complete ones, and removes the older ones, and broken ones that are
  /// older than the newest: the index first, then what it named and temporary files. Whatever else
  /// lies in them stays. Failing to remove is told in a warning. By one process.
  void prune(int64_t keep) const;

  /// Gives a checkpoint that is damaged another name (step-00000100.damaged), so that the step can
  /// be saved again. By one process. Errors: Unavailable.
  void set_aside(const SavedStep& saved) const;

 private:
  std::string path_;
};

/// `path` if there is a checkpoint, else the newest complete one of the folder of checkpoints that
/// is there. Errors: NotFound if it is neither.
std::string checkpoint_in(const std::string& path);

}  // namespace phi::distributed::checkpoint
