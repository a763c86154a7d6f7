// Decides when to save, load and roll back, alike on all ranks.
#include "api/training/checkpoint/checkpointer.h"

#include <fmt/ranges.h>
#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <functional>
#include <utility>

#include "api/tensor/checkpoint.h"
#include "api/training/checkpoint/trainer_checkpoint.h"
#include "distributed/checkpoint/collective_error.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi::training {

namespace checkpoint = distributed::checkpoint;
using distributed::World;

namespace {

constexpr int64_t kMaxRollbacks = 3;  // before one step

bool is_reporter() { return RankContext::current().rank() == 0; }

// The size of a checkpoint of the trainer on disk; the same on every rank.
int64_t checkpoint_bytes(const Trainer& trainer) {
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

// The message of an error that means a damaged checkpoint; rethrows other errors.
std::string damage_in(const Error& error) {
  const bool is_damage =
      error.code() == ErrorCode::kInvalidArgument || error.code() == ErrorCode::kUnavailable ||
      error.code() == ErrorCode::kNotFound || error.code() == ErrorCode::kPermissionDenied;
  if (!is_damage) throw Error(error);
  return error.what();
}

}  // namespace

// Requests of all ranks, combined.
struct Checkpointer::RankRequests {
  int stop_signal = 0;
  bool save = false;
};

Checkpointer::Checkpointer(Trainer& trainer, CheckpointerOptions options)
    : trainer_(trainer), options_(std::move(options)), folder_(options_.folder) {
  PHI_CHECK(options_.keep >= 1,
            errors::InvalidArgument("the number of checkpoints to keep is {}; keep 1 or more.",
                                    options_.keep));
  const auto fault = checkpoint::run_on_all_ranks(World::current(), [&] {
    if (!is_reporter()) return;
    checkpoint::check_folder(options_.folder, checkpoint_bytes(trainer_));
    if (!options_.fallback.empty()) {
      checkpoint::check_folder(options_.fallback, checkpoint_bytes(trainer_));
    }
    lock_ = std::make_unique<checkpoint::FolderLock>(options_.folder);
  });
  if (fault) throw Error(*fault);
}

Checkpointer::~Checkpointer() = default;

std::vector<checkpoint::SavedStep> Checkpointer::saved() const {
  std::vector<checkpoint::SavedStep> saved = folder_.saved(World::current());
  if (!options_.fallback.empty()) {
    const auto others = checkpoint::CheckpointFolder(options_.fallback).saved(World::current());
    saved.insert(saved.end(), others.begin(), others.end());
    std::ranges::stable_sort(saved, std::ranges::greater(), &checkpoint::SavedStep::step);
  }
  return saved;
}

// Ranks compare results after each part, so that all of them skip a checkpoint that one finds
// damaged. Errors that are not damage (another model, no memory, a rank that does not respond) are
// thrown.
std::optional<std::string> Checkpointer::try_load(const checkpoint::SavedStep& saved,
                                                  ResumedCheckpoint* resumed) {
  World& world = World::current();
  std::optional<checkpoint::Checkpoint> from;
  const auto unreadable =
      checkpoint::run_on_all_ranks(world, [&] { from = checkpoint::open(saved); });
  if (unreadable) return damage_in(*unreadable);
  const auto mismatch = checkpoint::run_on_all_ranks(world, [&] {
    if (options_.check_metadata) options_.check_metadata(from->metadata());
    check_loads(*from, trainer_);
  });
  if (mismatch) throw Error(*mismatch);
  if (const auto damage = load_or_error(*from, &trainer_)) return damage_in(*damage);
  resumed->path = saved.path;
  resumed->step = saved.step;
  resumed->bytes_read = from->bytes_read();
  resumed->metadata = from->metadata();
  return std::nullopt;
}

std::optional<ResumedCheckpoint> Checkpointer::resume() {
  ResumedCheckpoint resumed;
  std::vector<checkpoint::SavedStep> damaged;
  for (const checkpoint::SavedStep& each : saved()) {
    const auto fault = try_load(each, &resumed);
    if (!fault) {
      set_aside(damaged);
      saved_step_ = each.step;
      is_begun_ = true;
      return resumed;
    }
    damaged.push_back(each);
    resumed.damaged.push_back(each.path + ": " + *fault);
  }
  PHI_CHECK(resumed.damaged.empty(),
            errors::Unavailable("none of the checkpoints in '{}' can be read:\n  {}",
                                options_.folder, fmt::join(resumed.damaged, "\n  ")));
  is_begun_ = true;
  return std::nullopt;
}

// Renames damaged checkpoints, because their steps will be saved again. Called only after another
// checkpoint is loaded: then all ranks are present and have found the same damage.
void Checkpointer::set_aside(const std::vector<checkpoint::SavedStep>& damaged) const {
  const auto fault = checkpoint::run_on_all_ranks(World::current(), [&] {
    if (!is_reporter()) return;
    for (const checkpoint::SavedStep& each : damaged) folder_.set_aside(each);
  });
  if (fault) throw Error(*fault);
}

void Checkpointer::begin() {
  const auto before = saved();
  PHI_CHECK(before.empty(), errors::AlreadyExists(
                                "'{}' has checkpoints of another training run, the newest of step "
                                "{}; resume from it (--resume of a job), or use another folder.",
                                options_.folder, before.front().step));
  is_begun_ = true;
}

Checkpointer::RankRequests Checkpointer::combine_requests() {
  const int64_t step = trainer_.steps();
  bool wanted = signals_.take_save() || postponed_;
  wanted |= options_.every > 0 && step % options_.every == 0;
  wanted |= options_.minutes > 0.0 && is_reporter() &&
            std::chrono::steady_clock::now() - last_save_ >=
                std::chrono::duration<double>(60 * options_.minutes);
  std::array<int32_t, 2> requests = {signals_.stop(), wanted ? 1 : 0};
  World::current().everyone().all_reduce(requests.data(), std::ssize(requests), DataType::INT32,
                                         distributed::ReduceKind::kMax);
  return {requests[0], requests[1] != 0};
}

void Checkpointer::after_step(const StepResult& result) {
  const RankRequests requests = combine_requests();
  // agree() waits for the slowest rank's step, as the next step would; it does not count as pause.
  const Stopwatch stopwatch(&stats_.paused_seconds);
  stop_signal_ = requests.stop_signal;
  if (!result.finite && options_.roll_back) return roll_back();
  if (stop_signal_ != 0) {
    finish_or_error();
    return;
  }
  finish_pending(/*wait=*/false);
  // A save that is due while another is in progress starts when that is on disk.
  postponed_ = requests.save && pending_;
  if (requests.save && !postponed_) begin_save();
  if (!options_.async) finish_pending(/*wait=*/true);
}

void Checkpointer::finish() {
  if (const auto fault = finish_or_error()) throw Error(*fault);
}

std::optional<Error> Checkpointer::finish_or_error() {
  finish_pending(/*wait=*/true);
  if (saved_step_ == trainer_.steps()) return std::nullopt;
  begin_save();
  finish_pending(/*wait=*/true);
  return saved_step_ == trainer_.steps() ? std::nullopt : failure_;
}

// Runs a part of a save. An error of the save is the same on every rank. An error on this rank
// alone, such as values that are not finite, fails the job.
template <typename Part>
void Checkpointer::attempt(Part&& part) {
  try {
    part();
  } catch (const Error& error) {
    pending_.reset();
    if (error.code() == ErrorCode::kNotFinite) throw;
    checkpoint::first_error(World::current(), error);
    ++stats_.failures;
    failure_ = error;
    if (!is_reporter()) return;
    LOG(WARNING) << "step " << pending_step_ << " has no checkpoint: " << error.what();
  }
}

// Copies this step's states before it returns; the rest is written in the background.
void Checkpointer::begin_save() {
  if (!is_begun_) begin();
  pending_step_ = trainer_.steps();
  last_save_ = std::chrono::steady_clock::now();
  checkpoint::SaveOptions save = options_of(trainer_, {.metadata = options_.metadata});
  if (!options_.fallback.empty()) {
    save.fallback = checkpoint::CheckpointFolder(options_.fallback).path_of(pending_step_);
  }
  attempt([&] {
    pending_.emplace(
        checkpoint::start_save(folder_.path_of(pending_step_), trainer_.states(), save));
  });
}

void Checkpointer::finish_pending(bool wait) {
  if (pending_) {
    attempt([&] {
      if (wait) pending_->wait();
      if (!wait && !pending_->poll()) return;
      pending_.reset();
      ++stats_.saves;
      saved_step_ = pending_step_;
      if (is_reporter()) prune();
    });
  }
  if (wait && pruner_.joinable()) pruner_.join();
}

// Removes old checkpoints in the background, because deleting large files takes long. A save in
// progress is newer than everything removed. Each pruner waits for the previous one.
void Checkpointer::prune() {
  std::vector<checkpoint::CheckpointFolder> folders = {folder_};
  if (!options_.fallback.empty()) folders.emplace_back(options_.fallback);
  pruner_ = std::jthread(
      [before = std::move(pruner_), folders = std::move(folders), keep = options_.keep]() mutable {
        if (before.joinable()) before.join();
        for (const checkpoint::CheckpointFolder& folder : folders) folder.prune(keep);
      });
}

void Checkpointer::roll_back() {
  const int64_t failed_step = trainer_.steps();
  const int64_t failed_batch = trainer_.next_batch() - 1;
  rollbacks_here_ = failed_step > failed_step_ ? 1 : rollbacks_here_ + 1;
  failed_step_ = std::max(failed_step_, failed_step);
  finish_pending(/*wait=*/true);
  PHI_CHECK(rollbacks_here_ <= kMaxRollbacks,
            errors::NotFinite(
                "step {} is not finite, and {} rollbacks did not get past it: the data are not the "
                "cause. Resume from an older checkpoint with a lower learning rate.",
                failed_step, kMaxRollbacks));
  const auto resumed = resume();
  PHI_CHECK(resumed, errors::NotFinite(
                         "step {} is not finite, and '{}' has no checkpoint to roll back to yet.",
                         failed_step, options_.folder));
  trainer_.skip_to(failed_batch);
  ++stats_.rollbacks;
  if (is_reporter()) {
    LOG(WARNING) << fmt::format(
        "step {} is not finite: rolled back to step {}, and continuing after batch {}", failed_step,
        resumed->step, failed_batch);
  }
}

}  // namespace phi::training
