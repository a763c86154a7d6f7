// Checkpointer: saves a trainer while it trains, and resumes it from the newest checkpoint.
//
//   training::Checkpointer checkpoints(trainer, {.folder = "runs/gpt", .every = 100, .keep = 3});
//   checkpoints.resume();                          // where an earlier run ended, if there was one
//   while (trainer.steps() < 1000 && !checkpoints.stop_signal()) {
//     const StepResult result = trainer.step(batches(trainer.next_batch()));
//     checkpoints.after_step(result);
//   }
//   checkpoints.finish();                          // the last one
//
// A checkpoint is a subfolder such as step-00000100. It is written in the background while training
// continues; the step that is saved waits only for a copy of the shards that this rank alone holds.
// Each distinct shard is written by one of the ranks that hold it (checkpoint::save).
//
// Signals: SIGUSR1 saves and training continues. SIGTERM, SIGINT and SIGUSR2 save and request the
// end of the loop (stop_signal()). A signal may be sent to one rank or to all.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "api/training/checkpoint/checkpointer_stats.h"
#include "api/training/step_result.h"
#include "api/training/trainer.h"
#include "distributed/checkpoint/folder.h"
#include "distributed/checkpoint/save.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "phi/common/errors.h"
#include "phi/common/process/signal_watch.h"

namespace phi::training {

struct CheckpointerOptions {
  std::string folder{};
  int64_t every = 0;       // in steps; 0: not by step number
  double minutes = 0.0;    // 0: not by time; measured by rank 0
  int64_t keep = 3;        // number of complete checkpoints to keep; older ones are removed
  bool async = true;       // false: training waits until a checkpoint is on disk
  std::string fallback{};  // folder for a save that fails in `folder`
  /// If a loss or gradients are not finite, return to the newest checkpoint and continue with the
  /// batch after the faulty one. Requires TrainerOptions::on_nonfinite to be OnNonFinite::kSkip.
  bool roll_back = false;
  std::map<std::string, std::string> metadata{};  // stored in every checkpoint, for example the job
  /// Throws if training cannot continue from a checkpoint with this metadata. Called before tensors
  /// are compared with the trainer's, so that the error names the cause and not its effects.
  std::function<void(const std::map<std::string, std::string>& metadata)> check_metadata{};
};

/// The checkpoint that resume() or a rollback has loaded.
struct ResumedCheckpoint {
  std::string path;
  int64_t step = 0;
  int64_t bytes_read = 0;            // by this rank
  std::vector<std::string> damaged;  // newer checkpoints that cannot be read, with the reason
  std::map<std::string, std::string> metadata;
};

class Checkpointer {
 public:
  /// `trainer` must outlive it. Every rank constructs one; rank 0 creates the folder and locks it.
  /// Errors, on every rank: Unavailable if the folder or the fallback cannot be written to;
  /// ResourceExhausted if it has no room for a checkpoint; AlreadyExists if another job has locked
  /// it; InvalidArgument for a `keep` below 1.
  Checkpointer(Trainer& trainer, CheckpointerOptions options);
  /// Abandons a save in progress (finish() waits for it); earlier checkpoints stay.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Loads the newest checkpoint, in the folder or the fallback, whose checksums are right; nothing
  /// if there is none. Renames newer ones that are damaged.
  /// Errors: as load(), if it belongs to another model; Unavailable if all are damaged (they keep
  /// their names).
  std::optional<ResumedCheckpoint> resume();
  /// Call it instead of resume() to start a new training; the first save calls it otherwise.
  /// Errors: AlreadyExists if there are checkpoints, which would be mixed with new ones.
  void begin();

  /// Call it after each step on every rank. Saves if a save is due, and rolls back if needed. A
  /// failed save is logged and training continues; after the last step, finish() retries it.
  /// Errors: NotFinite if there is no checkpoint to roll back to, or if three rollbacks did not get
  /// past one step.
  void after_step(const StepResult& result);
  /// The signal that requested the end of the job, the same on every rank since the last step; 0:
  /// none.
  int stop_signal() const { return stop_signal_; }
  /// Returns when the current state is on disk; saves it if necessary.
  /// Errors: those of the save, the same on every rank.
  void finish();
  /// finish(), but returns the error of a failed save instead of throwing it.
  std::optional<Error> finish_or_error();

  const CheckpointerStats& stats() const { return stats_; }

 private:
  struct RankRequests;

  std::optional<std::string> try_load(const distributed::checkpoint::SavedStep& saved,
                                      ResumedCheckpoint* resumed);
  std::vector<distributed::checkpoint::SavedStep> saved() const;
  void set_aside(const std::vector<distributed::checkpoint::SavedStep>& damaged) const;
  RankRequests combine_requests();
  template <typename Part>
  void attempt(Part&& part);
  void begin_save();
  void finish_pending(bool wait);
  void prune();
  void roll_back();

  Trainer& trainer_;
  const CheckpointerOptions options_;
  distributed::checkpoint::CheckpointFolder folder_;
  std::unique_ptr<distributed::checkpoint::FolderLock> lock_;  // on rank 0
  SignalWatch signals_;
  int stop_signal_ = 0;
  std::optional<distributed::checkpoint::PendingSave> pending_;
  int64_t pending_step_ = 0;
  int64_t saved_step_ = -1;       // of the last save that succeeded, or that was resumed from
  bool is_begun_ = false;         // the folder's earlier content has been checked
  bool postponed_ = false;        // a save was due while another was in progress
  std::optional<Error> failure_;  // of the last save, if it failed
  int64_t rollbacks_here_ = 0;
  int64_t failed_step_ = 0;  // the largest
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  CheckpointerStats stats_;
  std::jthread pruner_;  // on rank 0
};

}  // namespace phi::training
