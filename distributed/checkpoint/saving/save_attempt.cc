// A rank's steps in a save, and the order that makes the save valid.
#include "distributed/checkpoint/saving/save_attempt.h"

#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <condition_variable>
#include <filesystem>
#include <map>
#include <mutex>
#include <span>
#include <utility>

#include "distributed/checkpoint/saving/commit.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/part_file.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using Microseconds = std::chrono::microseconds;

// How long a thread may take to end after cancel(); longer than any working disk needs.
constexpr Microseconds kGrace{10'000'000};

struct Cancelled {};

std::string receipt_path_of(const std::string& path) { return path + ".receipt"; }

}  // namespace

class SaveAttempt::SaveThread {
 public:
  SaveThread(World& world, std::shared_ptr<const SaveWork> work, SaveTarget target)
      : world_(world),
        rank_(world.rank()),
        world_size_(world.size()),
        work_(std::move(work)),
        target_(std::move(target)) {}

  void run() {
    const World::Scope scope(world_);
    // Lower priority, so that training steps run first where they compete for a core.
    if (work_->in_background) setpriority(PRIO_PROCESS, static_cast<id_t>(gettid()), 10);
    std::optional<Error> error;
    bool failed = true;
    try {
      write_own_file();
      if (rank_ == 0) {
        commit_save(target_.folder, complete_index(), target_.old_names,
                    [&] { is_committed_ = true; });
      }
      failed = false;
    } catch (const Cancelled&) {
    } catch (const Error& caught) {
      error = caught;
    } catch (const std::exception& caught) {
      error = errors::Internal("{}", caught.what());
    }
    // No other rank relies on this rank's file, or rank 0 has not committed any.
    if (failed && !is_committed_) discard();
    target_.lock.reset();
    const std::lock_guard lock(mutex_);
    error_ = std::move(error);
    state_ = !failed                       ? State::kDone
             : rank_ == 0 && is_committed_ ? State::kFailedLate
                                           : State::kFailed;
    over_.notify_all();
  }

  State state() const {
    const std::lock_guard lock(mutex_);
    return state_;
  }
  std::optional<Error> error() const {
    const std::lock_guard lock(mutex_);
    return error_;
  }
  bool wait_for(Microseconds time) {
    std::unique_lock lock(mutex_);
    return over_.wait_for(lock, time, [&] { return state_ != State::kRunning; });
  }
  int64_t bytes_written() const { return bytes_written_.load(); }
  void cancel() {
    const std::lock_guard lock(mutex_);
    cancelled_ = true;
    wake_.notify_all();
  }

  void discard() noexcept {
    if (work_->own.empty()) return;
    unlink(part_path(own_path(), target_.id).c_str());
    if (rank_ != 0) unlink(part_path(receipt_path_of(own_path()), target_.id).c_str());
  }

 private:
  std::string path_of(int64_t rank) const {
    return (fs::path(target_.folder) / file_of_rank(rank, world_size_)).string();
  }
  std::string own_path() const { return path_of(rank_); }

  void check_not_cancelled() const {
    const std::lock_guard lock(mutex_);
    if (cancelled_) throw Cancelled();
  }
  // Throws Cancelled as soon as the attempt is given up.
  void pause(Microseconds time) {
    std::unique_lock lock(mutex_);
    if (wake_.wait_for(lock, time, [&] { return cancelled_; })) throw Cancelled();
  }

  void write_own_file() {
    if (work_->own.empty()) return;
    PartFile part(own_path(), target_.id);
    own_receipt_ = work_->own.write(&part, target_.id, [&](size_t bytes) {
      bytes_written_ += static_cast<int64_t>(bytes);
      check_not_cancelled();
    });
    if (rank_ != 0) commit_to_rank_0();
  }

  // A complete receipt commits this rank: its file must stay. An incomplete one is ignored.
  void commit_to_rank_0() {
    PartFile receipt(receipt_path_of(own_path()), target_.id);
    const std::string text = own_receipt_.encode();
    receipt.write(std::as_bytes(std::span(text)));
    is_committed_ = true;
  }

  Receipt receipt_of_rank(int64_t rank) {
    if (rank == rank_) return own_receipt_;
    const std::string path = part_path(receipt_path_of(path_of(rank)), target_.id);
    constexpr Microseconds kLongest{200'000};
    for (Microseconds time{100};; time = std::min(2 * time, kLongest)) {
      if (auto receipt = Receipt::find(path)) return *std::move(receipt);
      pause(time);
    }
  }

  // The index with the checksums of all ranks' files.
  Index complete_index() {
    Index index = work_->index;
    index.save_id = target_.id;
    std::map<std::string, Receipt> receipts;  // by file
    for (size_t rank = 0; rank < work_->bytes.size(); ++rank) {
      if (work_->bytes[rank] < 0) continue;
      const std::string file = file_of_rank(static_cast<int64_t>(rank), world_size_);
      Receipt& receipt = receipts[file] = receipt_of_rank(static_cast<int64_t>(rank));
      index.headers[file] = receipt.header;
    }
    for (IndexedTensor& tensor : index.tensors) {
      for (TensorPiece& piece : tensor.pieces) {
        piece.sums = std::move(receipts.at(piece.file).sums[piece.name]);
      }
    }
    return index;
  }

  World& world_;
  const int64_t rank_;
  const int64_t world_size_;
  const std::shared_ptr<const SaveWork> work_;
  SaveTarget target_;
  Receipt own_receipt_;
  bool is_committed_ = false;  // whether others may rely on what this rank has written
  std::atomic<int64_t> bytes_written_{0};
  mutable std::mutex mutex_;
  std::condition_variable over_;
  std::condition_variable wake_;
  bool cancelled_ = false;
  State state_ = State::kRunning;
  std::optional<Error> error_;
};

SaveAttempt::SaveAttempt(World& world, std::shared_ptr<const SaveWork> work, SaveTarget target)
    : run_(std::make_shared<SaveThread>(world, std::move(work), std::move(target))),
      thread_([run = run_] { run->run(); }) {}

SaveAttempt::~SaveAttempt() { cancel(); }

SaveAttempt::State SaveAttempt::state() const { return run_->state(); }
int64_t SaveAttempt::bytes_written() const { return run_->bytes_written(); }
void SaveAttempt::wait_for(Microseconds time) { run_->wait_for(time); }
std::optional<Error> SaveAttempt::error() const { return run_->error(); }

void SaveAttempt::cancel() {
  if (!thread_.joinable()) return;
  run_->cancel();
  if (run_->wait_for(kGrace)) {
    thread_.join();
  } else {
    thread_.detach();
  }
}

void SaveAttempt::discard() noexcept {
  if (run_->state() != State::kRunning) run_->discard();
}

}  // namespace phi::distributed::checkpoint
