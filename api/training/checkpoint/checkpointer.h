// Checkpointer: saves of a trainer while it trains, and the way back to the newest of them.
//
//   training::Checkpointer checkpoints(trainer, {.folder = "runs/gpt", .every = 100, .keep = 3});
//   checkpoints.resume();                          // where an earlier run ended, if there was one
//   while (trainer.steps() < 1000 && !checkpoints.stop_signal()) {
//     const StepResult result = trainer.step(batches(trainer.next_batch()));
//     checkpoints.after_step(result);
//   }
//   checkpoints.finish();                          // the last one
//
// A checkpoint is a folder of the folder: step-00000100. It is written in the background while the
// training goes on; the step that it is of waits for a copy of what the rank holds alone. Each
// distinct shard is written by one of the ranks that have it (checkpoint::save).
//
// Signals: SIGUSR1 saves and goes on; SIGTERM, SIGINT and SIGUSR2 save and ask the loop to end
// (stop_signal()). They may come to one rank or to all.
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
  int64_t every = 0;       // steps; 0: not by their number
  double minutes = 0.0;    // 0: not by the clock (of rank 0)
  int64_t keep = 3;        // newest complete checkpoints; older ones are removed
  bool async = true;       // false: the training waits until a checkpoint is on the disk
  std::string fallback{};  // where a save goes that the folder does not take
  /// A loss or gradients that are not finite: back to the newest checkpoint, and on with the
  /// batches behind the one at fault. The trainer's own answer must be OnNonFinite::kSkip.
  bool roll_back = false;
  std::map<std::string, std::string> metadata{};  // of every checkpoint: the job, say
  /// Throws if the training cannot go on from a checkpoint with this metadata. Called before its
  /// tensors are compared with the trainer's, so that the cause is reported and not its effects.
  std::function<void(const std::map<std::string, std::string>& metadata)> check_metadata{};
};

/// What resume() and a rollback have found.
struct Resumed {
  std::string path;
  int64_t step = 0;
  int64_t bytes_read = 0;            // by this rank
  std::vector<std::string> damaged;  // newer ones that cannot be read: what is wrong with them
  std::map<std::string, std::string> metadata;
};

class Checkpointer {
 public:
  /// `trainer` must outlive it. Every rank makes one; rank 0 makes the folder and keeps it locked.
  /// Errors, on every rank: Unavailable if the folder or the fallback cannot be written to;
  /// ResourceExhausted if it has no room for a checkpoint; AlreadyExists if another job has it;
  /// InvalidArgument for a `keep` below 1.
  Checkpointer(Trainer& trainer, CheckpointerOptions options);
  /// Gives up what is being written (finish() waits for it); the checkpoints before it stay.
  ~Checkpointer();
  Checkpointer(const Checkpointer&) = delete;
  Checkpointer& operator=(const Checkpointer&) = delete;

  /// Loads the newest checkpoint, of the folder or the fallback, whose bytes are what was written;
  /// nothing if there is none. Newer ones that are damaged get another name. Errors: as load(), for
  /// one that is of another model; Unavailable if all are damaged (they stay as they are).
  std::optional<Resumed> resume();
  /// Instead of resume(), for a training that begins; without either the first save does it.
  /// Errors: AlreadyExists if there are checkpoints, which its own would mix with.
  void begin();

  /// After each step, on every rank: saves if it is time to, and rolls back if that is asked for.
  /// A failed save is logged, and training goes on; after the last step finish() tries it again.
  /// Errors: NotFinite if there is nothing to roll back to, or three rollbacks have not led past
  /// one step.
  void after_step(const StepResult& result);
  /// The signal that asks the job to end, the same on every rank since the last step; 0: none.
  int stop_signal() const { return stop_signal_; }
  /// The state of now is saved, if it was not, and on the disk. Errors: those of the save, the same
  /// on every rank.
  void finish();
  /// finish() that returns the error of a save that fails, instead of throwing it.
  std::optional<Error> fault_of_finish();

  const CheckpointerStats& stats() const { return stats_; }

 private:
  struct Wishes;

  std::optional<std::string> try_load(const distributed::checkpoint::SavedStep& saved,
                                      Resumed* resumed);
  std::vector<distributed::checkpoint::SavedStep> saved() const;
  void set_aside(const std::vector<distributed::checkpoint::SavedStep>& damaged) const;
  Wishes agree();
  template <typename Part>
  void attempt(Part&& part);
  void begin_save();
  void settle(bool wait);
  void prune();
  void roll_back();

  Trainer& trainer_;
  const CheckpointerOptions options_;
  distributed::checkpoint::CheckpointFolder folder_;
  std::unique_ptr<distributed::checkpoint::FolderLock> lock_;  // rank 0's
  SignalWatch signals_;
  int stop_signal_ = 0;
  std::optional<distributed::checkpoint::PendingSave> pending_;
  int64_t pending_step_ = 0;
  int64_t saved_step_ = -1;       // of the last save that has succeeded, or was resumed from
  bool is_begun_ = false;         // it is known what was in the folder
  bool postponed_ = false;        // a save was due while another was being written
  std::optional<Error> failure_;  // of the last save, if it has failed
  int64_t rollbacks_here_ = 0;
  int64_t failed_step_ = 0;  // the furthest
  std::chrono::steady_clock::time_point last_save_ = std::chrono::steady_clock::now();
  CheckpointerStats stats_;
  std::jthread pruner_;  // rank 0's
};

}  // namespace phi::training
