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

#include "distributed/checkpoint/checkpoint.h"
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
    std::vector<SavedStep> broken;    // likewise: cut off, damaged, or not to be read now
    std::vector<std::string> faults;  // of the broken ones, what is wrong
  };
  /// Complete: the index can be read, and all files are there with the right headers. Their values
  /// are not read (verify.h). Errors: Unavailable if the folder cannot be read.
  Found find() const;

  /// Saves that were complete once, newest first, also those that have lost their index or whose
  /// index cannot be looked at: as rank 0 finds them, for a file system may show another rank an
  /// older state of the folder. Collective. Errors: the same on all ranks.
  std::vector<SavedStep> saved(World& world) const;

  /// The newest checkpoint that is complete and of which every byte is as it was saved; nothing if
  /// there is none. Those that are newer are told in warnings of rank 0. Collective: each rank
  /// reads its share of the bytes. Errors: the same on all ranks.
  std::optional<SavedStep> newest_good(World& world) const;

  /// Leaves the newest `keep` complete ones, and removes the older ones, and those without an index
  /// (their save was cut off) that are older than the newest: the index first, then what it named
  /// and temporary files. Whatever else lies in them stays, and so do broken ones that have an
  /// index: a file that cannot be opened now may be good. Failing to remove, and a folder that is
  /// being saved to, are told in a warning. By one process.
  void prune(int64_t keep) const;

  /// Gives a checkpoint that is damaged another name (step-00000100.damaged), so that the step can
  /// be saved again. By one process. Errors: Unavailable.
  void set_aside(const SavedStep& saved) const;

 private:
  std::string path_;
};

/// The checkpoint of a step. Errors: as open() of its folder; NotFound if its index is gone.
Checkpoint open(const SavedStep& saved);

/// `path` if there is a checkpoint, else the newest complete one of the folder of checkpoints that
/// is there. Errors: NotFound if it is neither.
std::string checkpoint_in(const std::string& path);

}  // namespace phi::distributed::checkpoint
