// Consistency checks before a save, and the collective decision about its end.
#include "distributed/checkpoint/saving/collective_save.h"

#include <fmt/ranges.h>
#include <glog/logging.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <limits>
#include <new>
#include <set>
#include <utility>

#include "distributed/checkpoint/collective_error.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/saving/save_plan.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/readable_numbers.h"
#include "phi/common/split_mix.h"
#include "phi/core/rank_context.h"

namespace phi::distributed::checkpoint {
namespace {

// Interval of the log lines about a long save.
constexpr std::chrono::seconds kLogInterval{10};

std::string piece_name(const PlannedPiece& piece, const NamedTensor& tensor) {
  if (piece.box == Box::whole(tensor.tensor.dims())) return tensor.name;
  return tensor.name + piece.box.to_string();
}

void check_tensor(const NamedTensor& named, int64_t world_size) {
  const DistTensor& x = named.tensor;
  PHI_CHECK(!named.name.empty(), errors::InvalidArgument("a tensor has no name."));
  PHI_CHECK(x.defined(), errors::InvalidArgument("tensor '{}' is undefined.", named.name));
  PHI_CHECK(x.dims().known(), errors::InvalidArgument("tensor '{}' has the unknown shape {}.",
                                                      named.name, x.to_string()));
  PHI_CHECK(!x.attr()->has_partial(),
            errors::InvalidArgument("tensor '{}' is a partial value, {}; reshard it to Replicate() "
                                    "or Shard(d) before it is saved.",
                                    named.name, x.to_string()));
  const auto ranks = x.mesh().ranks();
  PHI_CHECK(
      *std::ranges::max_element(ranks) < world_size,
      errors::InvalidArgument("tensor '{}', {}, is placed on ranks that this job of {} lacks.",
                              named.name, x.to_string(), world_size));
}

void check_metadata(const std::map<std::string, std::string>& metadata) {
  for (const auto& [key, text] : metadata) {
    PHI_CHECK(!is_reserved(key),
              errors::InvalidArgument("the metadata key '{}' is reserved; use another.", key));
    try {
      Json(key + text).dump();
    } catch (const Json::exception& error) {
      throw errors::InvalidArgument("the metadata entry '{}' is not UTF-8: {}.", key, error.what());
    }
  }
}

// A hash of texts in order.
class Fingerprint {
 public:
  void add(std::string_view text) {
    all_ += fmt::format("{}:", text.size());
    all_ += text;
  }
  uint64_t value() const { return checksum(all_); }

 private:
  std::string all_;
};

}  // namespace

// A rank's report in a poll.
struct CollectiveSave::Progress {
  SaveAttempt::State state;
  int64_t bytes_written;
  int64_t is_late;  // whether this rank has waited longer than the deadline
};

CollectiveSave::CollectiveSave(const std::string& folder, std::span<const NamedTensor> tensors,
                               const SaveOptions& options, Mode mode)
    : world_(World::current()),
      folder_(folder),
      options_(options),
      work_(std::make_shared<SaveWork>()) {
  const OpScope scope("save");
  const auto fault = run_on_all_ranks(world_, [&] {
    prepare(tensors);
    any_streams_ = mode == Mode::kForeground || !take_snapshot();
    if (any_streams_ && options_.must_be_finite) work_->own.check_finite();
  });
  if (fault) throw Error(*fault);
  if (const auto refused = run_on_all_ranks(world_, [&] { prepare_folder(); }))
    go_to_fallback(*refused);
  check_consistency(tensors);
  work_->in_background = !any_streams_;
  start();
  if (any_streams_) wait();
}

void CollectiveSave::prepare(std::span<const NamedTensor> tensors) {
  PHI_CHECK(world_.transfers_data(),
            errors::PreconditionNotMet("a dry run has no values to save; leave the save out."));
  check_metadata(options_.metadata);
  std::set<std::string_view> names;
  std::vector<TensorLayout> layouts;
  Index& index = work_->index;
  index.metadata = options_.metadata;
  for (const NamedTensor& named : tensors) {
    check_tensor(named, world_.size());
    PHI_CHECK(names.insert(named.name).second,
              errors::InvalidArgument("two tensors are named '{}'.", named.name));
    layouts.push_back({named.tensor.meta(), named.tensor.attr()});
    index.tensors.push_back({named.name, named.tensor.meta(), {}});
  }
  work_->bytes.assign(static_cast<size_t>(world_.size()), -1);
  for (const PlannedPiece& piece : plan_save(layouts, world_.size())) {
    const NamedTensor& named = tensors[piece.tensor];
    const std::string name = piece_name(piece, named);
    const TensorMeta meta{piece.box.size, named.tensor.dtype()};
    index.tensors[piece.tensor].pieces.push_back(
        {file_of_rank(piece.writer, world_.size()), name, piece.box});
    int64_t& bytes = work_->bytes[static_cast<size_t>(piece.writer)];
    bytes = std::max<int64_t>(bytes, 0) + static_cast<int64_t>(meta.nbytes());
    if (piece.writer == world_.rank()) work_->own.add(name, named.tensor.local(), meta);
  }
}

// Returns false if this rank has no memory for a copy.
bool CollectiveSave::take_snapshot() {
  const RankContext& context = world_.rank_context();
  if (context.memory()->device_limit() != std::numeric_limits<int64_t>::max()) return false;
  try {
    work_->own.take_snapshot(options_.must_be_finite);
    return true;
  } catch (const std::bad_alloc&) {
    return false;
  } catch (const Error& error) {
    if (error.code() != ErrorCode::kResourceExhausted) throw;
    return false;
  }
}

void CollectiveSave::prepare_folder() {
  target_.folder = folder_;
  if (world_.rank() != 0) return;
  make_folder(folder_);
  const bool is_held =
      options_.lock && std::filesystem::equivalent(options_.lock->folder(), folder_);
  target_.lock = is_held ? options_.lock : std::make_shared<const FolderLock>(folder_);
  target_.old_names = replaceable_files(folder_);
}

// Checks that all ranks have the same plan, and broadcasts the id that rank 0 draws.
void CollectiveSave::check_consistency(std::span<const NamedTensor> tensors) {
  Fingerprint of_tensors;
  for (const NamedTensor& named : tensors) {
    of_tensors.add(named.name);
    of_tensors.add(named.tensor.to_string());
  }
  Fingerprint of_metadata;
  for (const auto& [key, text] : options_.metadata) {
    of_metadata.add(key);
    of_metadata.add(text);
  }
  Fingerprint of_folders;
  of_folders.add(folder_);
  of_folders.add(options_.fallback);
  struct SaveSettings {
    uint64_t tensors, metadata, folders, streams, id;
  };
  const SaveSettings own = {of_tensors.value(), of_metadata.value(), of_folders.value(),
                            any_streams_, std::stoull(random_save_id(), nullptr, 16)};
  std::vector<SaveSettings> all(static_cast<size_t>(world_.size()));
  world_.everyone().all_gather(&own, all.data(), sizeof(SaveSettings) / 8, DataType::INT64);
  for (size_t rank = 0; rank < all.size(); ++rank) {
    PHI_CHECK(all[rank].tensors == all[0].tensors,
              errors::InvalidArgument(
                  "ranks 0 and {} save different tensors; every rank must list the same tensors in "
                  "the same order, also those of which it stores no elements.",
                  rank));
    PHI_CHECK(all[rank].metadata == all[0].metadata,
              errors::InvalidArgument("ranks 0 and {} save with different metadata; every rank "
                                      "must pass the same keys and texts.",
                                      rank));
    PHI_CHECK(all[rank].folders == all[0].folders,
              errors::InvalidArgument(
                  "ranks 0 and {} save to different folders; every rank must pass the same folder.",
                  rank));
    any_streams_ = any_streams_ || all[rank].streams != 0;
  }
  target_.id = fmt::format("{:016x}", all[0].id);
}

void CollectiveSave::start() {
  began_ = logged_ = Clock::now();
  attempt_.emplace(world_, work_, std::exchange(target_, {folder_, target_.id, {}, {}}));
}

bool CollectiveSave::done() const {
  return !attempt_ || attempt_->state() != SaveAttempt::State::kRunning;
}

std::vector<CollectiveSave::Progress> CollectiveSave::gather() {
  const bool is_late = Clock::now() - began_ > options_.deadline;
  const Progress own = {attempt_->state(), attempt_->bytes_written(), is_late};
  std::vector<Progress> all(static_cast<size_t>(world_.size()));
  world_.everyone().all_gather(&own, all.data(), sizeof(Progress) / 8, DataType::INT64);
  return all;
}

bool CollectiveSave::poll() {
  if (!attempt_) return true;
  const OpScope scope("save");
  const std::vector<Progress> all = gather();
  const auto is = [](SaveAttempt::State state) {
    return [state](const Progress& progress) { return progress.state == state; };
  };
  if (std::ranges::all_of(all, is(SaveAttempt::State::kDone))) {
    attempt_.reset();
    return true;
  }
  // Rank 0's clock decides for all ranks.
  const bool is_late = all[0].is_late != 0;
  if (is_late || std::ranges::any_of(all, is(SaveAttempt::State::kFailed)) ||
      all[0].state == SaveAttempt::State::kFailedLate) {
    fail(all);
    return false;
  }
  if (world_.rank() == 0 && Clock::now() - logged_ > kLogInterval) {
    logged_ = Clock::now();
    LOG(INFO) << "saving to '" << folder_ << "': " << describe(all);
  }
  return false;
}

// Gives up all attempts, and restarts in the fallback folder if there is one.
void CollectiveSave::fail(const std::vector<Progress>& all) {
  attempt_->cancel();
  const bool is_late = std::ranges::none_of(all, [](const Progress& p) {
    return p.state == SaveAttempt::State::kFailed || p.state == SaveAttempt::State::kFailedLate;
  });
  std::optional<Error> fault;
  if (is_late) {
    fault = errors::ExecutionTimeout("the save to '{}' did not end within {} s: {}.", folder_,
                                     std::chrono::duration<double>(options_.deadline).count(),
                                     describe(all));
  } else {
    fault = first_error(world_, attempt_->error());
  }
  if (!is_late && all[0].state != SaveAttempt::State::kFailedLate) attempt_->discard();
  attempt_.reset();
  if (all[0].state == SaveAttempt::State::kFailedLate) throw Error(*fault);
  go_to_fallback(*fault);
  target_.id = fmt::format("{:016x}", split_mix(std::stoull(target_.id, nullptr, 16)));
  start();
}

// Throws the first folder's error if there is no fallback.
void CollectiveSave::go_to_fallback(const Error& fault) {
  if (options_.fallback.empty()) throw Error(fault);
  if (world_.rank() == 0) {
    LOG(WARNING) << fault.what() << " The save goes to '" << options_.fallback << "'.";
  }
  folder_ = std::exchange(options_.fallback, {});
  const auto second = run_on_all_ranks(world_, [&] { prepare_folder(); });
  if (second) throw Error(*second);
}

std::string CollectiveSave::describe(const std::vector<Progress>& all) const {
  constexpr size_t kMostRanks = 8;
  std::vector<std::string> texts;
  size_t more = 0;
  for (size_t rank = 0; rank < all.size(); ++rank) {
    const int64_t bytes = std::max<int64_t>(work_->bytes[rank], 0);
    if (all[rank].state != SaveAttempt::State::kRunning) continue;
    if (texts.size() == kMostRanks) {
      ++more;
      continue;
    }
    texts.push_back(fmt::format("rank {} has written {} of {}", rank,
                                human_bytes(all[rank].bytes_written), human_bytes(bytes)));
  }
  return fmt::format("{}{}", fmt::join(texts, ", "),
                     more == 0 ? "" : fmt::format(", and {} more are in progress", more));
}

void CollectiveSave::wait() {
  constexpr std::chrono::microseconds kLongest{250'000};
  for (std::chrono::microseconds time{100};; time = std::min(2 * time, kLongest)) {
    if (attempt_) attempt_->wait_for(time);
    if (poll()) return;
  }
}

}  // namespace phi::distributed::checkpoint
