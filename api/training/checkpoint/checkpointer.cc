// When to save, and what all ranks make of it.
#include "api/training/checkpoint/checkpointer.h"

#include <fmt/ranges.h>
#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <utility>

#include "api/nn/checkpoint.h"
#include "api/tensor/checkpoint.h"
#include "api/training/checkpoint/trainer_checkpoint.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/together.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::training {

namespace checkpoint = distributed::checkpoint;
using distributed::World;

namespace {

constexpr int64_t kMaxRollbacks = 3;  // before one step

bool speaks() { return RankContext::current().rank() == 0; }

// What a checkpoint of the trainer takes on the disk, in all; every rank finds the same.
int64_t bytes_of(const Trainer& trainer) {
  int64_t bytes = 0;
  for (const auto& [name, value] : trainer.states()) {
    bytes += static_cast<int64_t>(value.meta().nbytes());
  }
  return bytes;
}

class Stopwatch {
 public:
  explicit Stopwatch(double* seconds) : seconds_(seconds) {}
  ~Stopwatch() { *seconds_ += std::chrono::duration<double>(Clock::now() - start_).count(); }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  using Clock = std::chrono::steady_clock;
  double* seconds_;
  Clock::time_point start_ = Clock::now();
};

}  // namespace

// What some rank wishes; all know it then.
struct Checkpointer::Wishes {
  int stop_signal = 0;
  bool save = false;
};

Checkpointer::Checkpointer(Trainer& trainer, CheckpointerOptions options)
    : trainer_(trainer), options_(std::move(options)), folder_(options_.folder) {
  PHI_CHECK(
      options_.keep >= 1,
      errors::InvalidArgument("checkpoints keep {} of themselves; keep 1 or more.", options_.keep));
  const auto fault = checkpoint::together(World::current(), [&] {
    if (!speaks()) return;
    checkpoint::check_folder(options_.folder, bytes_of(trainer_));
    lock_ = std::make_unique<checkpoint::FolderLock>(options_.folder);
  });
  if (fault) throw Error(*fault);
}

Checkpointer::~Checkpointer() = default;

// Damage of one file is a fault of all ranks: each of them passes over the checkpoint.
std::optional<std::string> Checkpointer::try_load(const checkpoint::SavedStep& saved,
                                                  Resumed* resumed) {
  std::optional<checkpoint::Checkpoint> from;
  auto fault = checkpoint::together(World::current(), [&] { from = checkpoint::open(saved.path); });
  if (fault) return fault->what();
  check_loads(*from, trainer_);
  try {
    load(*from, &trainer_);
  } catch (const Error& error) {
    return error.what();
  }
  resumed->path = saved.path;
  resumed->step = saved.step;
  resumed->bytes_read = from->bytes_read();
  resumed->metadata = from->metadata();
  return std::nullopt;
}

std::optional<Resumed> Checkpointer::resume() {
  Resumed resumed;
  for (const checkpoint::SavedStep& saved : folder_.indexed(World::current())) {
    const auto fault = try_load(saved, &resumed);
    if (!fault) {
      saved_step_ = saved.step;
      return resumed;
    }
    resumed.damaged.push_back(saved.path + ": " + *fault);
    // Its step will be saved again.
    if (speaks()) folder_.set_aside(saved);
  }
  PHI_CHECK(resumed.damaged.empty(),
            errors::Unavailable("none of the checkpoints in '{}' can be read:\n  {}",
                                options_.folder, fmt::join(resumed.damaged, "\n  ")));
  return std::nullopt;
}

Checkpointer::Wishes Checkpointer::agree() {
  const int64_t step = trainer_.steps();
  bool wanted = signals_.take_save() || postponed_;
  wanted |= options_.every > 0 && step % options_.every == 0;
  wanted |= options_.minutes > 0.0 && speaks() &&
            std::chrono::steady_clock::now() - last_save_ >=
                std::chrono::duration<double>(60 * options_.minutes);
  std::array<int32_t, 2> wishes = {signals_.stop(), wanted ? 1 : 0};
  World::current().everyone().all_reduce(wishes.data(), std::ssize(wishes), DataType::INT32,
                                         distributed::ReduceKind::kMax);
  return {wishes[0], wishes[1] != 0};
}

void Checkpointer::after_step(const StepResult& result) {
  const Wishes wishes = agree();
  // To agree is to wait for the slowest rank's step, which the next step would do.
  const Stopwatch stopwatch(&stats_.paused_seconds);
  stop_signal_ = wishes.stop_signal;
  if (!result.finite && options_.roll_back) return roll_back();
  if (stop_signal_ != 0) return finish();
  settle(/*wait=*/false);
  // What is due while the one before is being written is done when that is on the disk.
  postponed_ = wishes.save && pending_;
  if (wishes.save && !postponed_) begin_save();
  if (!options_.async) settle(/*wait=*/true);
}

void Checkpointer::finish() {
  settle(/*wait=*/true);
  if (saved_step_ == trainer_.steps()) return;
  begin_save();
  settle(/*wait=*/true);
  PHI_CHECK(saved_step_ == trainer_.steps(), Error(*failure_));
}

// Runs a part of a save, whose errors are the same on every rank. Other faults are of the job.
template <typename Part>
void Checkpointer::attempt(Part&& part) {
  try {
    part();
  } catch (const Error& error) {
    pending_.reset();
    if (error.code() == ErrorCode::kOutOfRange || error.code() == ErrorCode::kInvalidArgument)
      throw;
    ++stats_.failures;
    failure_ = error;
    if (!speaks()) return;
    LOG(WARNING) << "step " << pending_step_ << " has no checkpoint: " << error.what();
  }
}

// The copy of this step's states is taken here; the rest is written in the background.
void Checkpointer::begin_save() {
  nn::check_finite(trainer_.states());
  pending_step_ = trainer_.steps();
  last_save_ = std::chrono::steady_clock::now();
  checkpoint::SaveOptions save = with_numbers({.metadata = options_.metadata}, trainer_);
  if (!options_.fallback.empty()) {
    save.fallback = checkpoint::CheckpointFolder(options_.fallback).path_of(pending_step_);
  }
  attempt([&] {
    pending_.emplace(
        checkpoint::start_save(folder_.path_of(pending_step_), trainer_.states(), save));
  });
}

void Checkpointer::settle(bool wait) {
  if (!pending_) return;
  attempt([&] {
    if (wait) pending_->wait();
    if (!wait && !pending_->poll()) return;
    pending_.reset();
    ++stats_.saves;
    saved_step_ = pending_step_;
    if (speaks()) folder_.prune(options_.keep);
  });
}

void Checkpointer::roll_back() {
  const int64_t failed_step = trainer_.steps();
  const int64_t failed_batch = trainer_.next_batch() - 1;
  rollbacks_here_ = failed_step > failed_step_ ? 1 : rollbacks_here_ + 1;
  failed_step_ = std::max(failed_step_, failed_step);
  settle(/*wait=*/true);
  PHI_CHECK(rollbacks_here_ <= kMaxRollbacks,
            errors::OutOfRange("step {} is not finite, and {} rollbacks did not lead past it: the "
                               "data are not at fault. Go on from an older checkpoint with a lower "
                               "learning rate.",
                               failed_step, kMaxRollbacks));
  const auto resumed = resume();
  PHI_CHECK(resumed, errors::OutOfRange("step {} is not finite, and '{}' has no checkpoint to go "
                                        "back to yet.",
                                        failed_step, options_.folder));
  trainer_.pass_over(failed_batch);
  ++stats_.rollbacks;
  if (speaks()) {
    LOG(WARNING) << fmt::format("step {} is not finite: back to step {}, and on behind batch {}",
                                failed_step, resumed->step, failed_batch);
  }
}

}  // namespace phi::training
