// CheckpointFolder: the checkpoints of a job in one folder, one save per subfolder:
// DIR/step-00000100, DIR/step-00000200, ...
//
//   const CheckpointFolder folder("runs/a");
//   save(folder.path_of(100), tensors);
//   folder.prune(3);
//   const auto newest = folder.newest_valid(world);   // to resume from
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
  /// The folder need not exist.
  explicit CheckpointFolder(std::string path) : path_(std::move(path)) {}

  const std::string& path() const { return path_; }
  std::string path_of(int64_t step) const;

  struct Listing {
    std::vector<SavedStep> complete;  // newest first
    std::vector<SavedStep> broken;    // newest first: truncated, damaged, or currently unreadable
    std::vector<std::string> faults;  // what is wrong with the broken ones
  };
  /// Lists the checkpoints. One is complete if its index can be read and all files exist with the
  /// right headers. Values are not read (verify.h). Errors: Unavailable if the folder cannot be
  /// read.
  Listing find() const;

  /// Returns saves that were complete once, newest first, including those whose index is lost or
  /// unreadable. Rank 0 lists the folder for all ranks, because a file system may show other ranks
  /// an older state. Collective. Errors: the same on all ranks.
  std::vector<SavedStep> saved(World& world) const;

  /// Returns the newest checkpoint that is complete and unchanged in every byte; nullopt if there
  /// is none. Rank 0 logs a warning for each newer, broken one. Collective: each rank reads its
  /// share of the bytes. Errors: the same on all ranks.
  std::optional<SavedStep> newest_valid(World& world) const;

  /// Keeps the newest `keep` complete checkpoints. Removes older complete ones, and older ones
  /// without an index, whose save was interrupted. It removes the index first, then the files that
  /// it named and temporary files; other files stay. Broken checkpoints with an index stay, because
  /// a file that cannot be opened now may be good. A failed removal, and a folder that is being
  /// saved to, are logged as warnings. Call it in one process. Errors: InvalidArgument if `keep` is
  /// below 1.
  void prune(int64_t keep) const;

  /// Renames a damaged checkpoint (step-00000100.damaged), so that the step can be saved again.
  /// Call it in one process. Errors: Unavailable.
  void set_aside(const SavedStep& saved) const;

 private:
  std::string path_;
};

/// Opens the checkpoint of a step. Errors: those of open() of its folder; NotFound if its index is
/// gone.
Checkpoint open(const SavedStep& saved);

/// Returns `path` if it is a checkpoint, otherwise the newest complete one if `path` is a folder of
/// checkpoints. Errors: NotFound if it is neither.
std::string checkpoint_in(const std::string& path);

}  // namespace phi::distributed::checkpoint
