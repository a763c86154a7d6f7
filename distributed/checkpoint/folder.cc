// Names of steps, and the state of their saves.
#include "distributed/checkpoint/folder.h"

#include <fmt/core.h>
#include <glog/logging.h>

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <set>
#include <string_view>
#include <utility>

#include "distributed/checkpoint/checkpoint_files.h"
#include "distributed/checkpoint/collective_error.h"
#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "distributed/checkpoint/verify.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kPrefix = "step-";

// The step of a name in exactly the format of path_of().
std::optional<int64_t> step_of(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  int64_t step = 0;
  const auto [end, error] = std::from_chars(name.data(), name.data() + name.size(), step);
  const bool is_number = error == std::errc() && end == name.data() + name.size();
  if (!is_number || fmt::format("{:08}", step) != name || step < 0) return std::nullopt;
  return step;
}

std::vector<SavedStep> steps_in(const std::string& path) {
  std::vector<SavedStep> steps;
  std::error_code failed;
  if (!fs::is_directory(path, failed)) return steps;
  const fs::directory_iterator entries(path, failed);
  PHI_CHECK(!failed,
            errors::Unavailable("the folder '{}' cannot be read: {}.", path, failed.message()));
  for (const auto& entry : entries) {
    const auto step = step_of(entry.path().filename().string());
    if (step && entry.is_directory(failed)) {
      steps.push_back({*step, entry.path().string()});
    }
  }
  std::ranges::sort(steps, std::ranges::greater(), &SavedStep::step);
  return steps;
}

bool may_have_index(const std::string& path) { return may_exist(fs::path(path) / kIndexFile); }

void check_has_index(const std::string& path) {
  PHI_CHECK(may_have_index(path),
            errors::NotFound("'{}' has no {}: its save was interrupted, or the file was removed.",
                             path, kIndexFile));
}

// Files get their final names only after the index has its name, so either proves completion.
bool was_complete(const std::string& path) { return may_have_index(path) || has_data_file(path); }

// Checks a save without reading its values.
std::string fault_of(const std::string& path) {
  try {
    check_has_index(path);
    const CheckpointFiles files(path);
    for (const std::string& name : files.names_of_files()) files.file(name);
    return "";
  } catch (const Error& error) {
    return error.what();
  }
}

// Removes the index first: without it the rest is no checkpoint. The lock excludes a concurrent
// save, and replaces the lock file of a killed process.
void remove_files(const std::string& path) {
  const FolderLock lock(path);
  std::set<std::string> names;
  try {
    for (const std::string& name : CheckpointFiles(path).names_of_files()) names.insert(name);
  } catch (const Error&) {  // remove only files that identify themselves as this library's
  }
  if (fs::remove(fs::path(path) / kIndexFile)) sync_folder(path);
  remove_old_files(path, names, {});
}

void remove_save(const std::string& path) {
  try {
    remove_files(path);
    fs::remove(path);
  } catch (const std::exception& error) {
    LOG(WARNING) << "the old checkpoint '" << path << "' is not removed: " << error.what();
  }
}

}  // namespace

std::string CheckpointFolder::path_of(int64_t step) const {
  return (fs::path(path_) / fmt::format("{}{:08}", kPrefix, step)).string();
}

CheckpointFolder::Listing CheckpointFolder::find() const {
  Listing found;
  for (SavedStep& saved : steps_in(path_)) {
    std::string fault = fault_of(saved.path);
    if (fault.empty()) {
      found.complete.push_back(std::move(saved));
    } else {
      found.broken.push_back(std::move(saved));
      found.faults.push_back(std::move(fault));
    }
  }
  return found;
}

std::vector<SavedStep> CheckpointFolder::saved(World& world) const {
  std::vector<int64_t> steps;
  const auto fault = run_on_all_ranks(world, [&] {
    if (world.rank() != 0) return;
    for (const SavedStep& saved : steps_in(path_)) {
      if (was_complete(saved.path)) steps.push_back(saved.step);
    }
  });
  if (fault) throw Error(*fault);
  auto count = std::ssize(steps);
  world.everyone().broadcast(&count, 1, DataType::INT64, 0);
  steps.resize(static_cast<size_t>(count));
  world.everyone().broadcast(steps.data(), count, DataType::INT64, 0);
  std::vector<SavedStep> saved;
  for (const int64_t step : steps) saved.push_back({step, path_of(step)});
  return saved;
}

std::optional<SavedStep> CheckpointFolder::newest_valid(World& world) const {
  for (const SavedStep& saved : this->saved(world)) {
    const auto damage = run_on_all_ranks(world, [&] {
      check_has_index(saved.path);
      const Verification result = verify(saved.path, world.rank(), world.size());
      PHI_CHECK(result.faults.empty(), errors::InvalidArgument("{}", result.faults.front()));
    });
    if (!damage) return saved;
    if (world.rank() == 0) LOG(WARNING) << damage->what();
  }
  return std::nullopt;
}

void CheckpointFolder::prune(int64_t keep) const {
  PHI_CHECK(keep >= 1, errors::InvalidArgument("{} checkpoints cannot be kept.", keep));
  try {
    const Listing found = find();
    for (size_t i = static_cast<size_t>(keep); i < found.complete.size(); ++i) {
      remove_save(found.complete[i].path);
    }
    for (const SavedStep& saved : found.broken) {
      const bool is_old = !found.complete.empty() && saved.step < found.complete[0].step;
      if (is_old && !may_have_index(saved.path)) remove_save(saved.path);
    }
  } catch (const std::exception& error) {
    LOG(WARNING) << "old checkpoints in '" << path_ << "' are not removed: " << error.what();
  }
}

Checkpoint open(const SavedStep& saved) {
  check_has_index(saved.path);
  return open(saved.path);
}

std::string checkpoint_in(const std::string& path) {
  std::error_code ignored;
  if (!fs::is_directory(path, ignored) || fs::exists(fs::path(path) / kIndexFile, ignored) ||
      fs::exists(fs::path(path) / kSingleFile, ignored)) {
    return path;
  }
  const CheckpointFolder::Listing found = CheckpointFolder(path).find();
  PHI_CHECK(!found.complete.empty(),
            errors::NotFound("there is no checkpoint in '{}': neither {} nor {}, and no complete "
                             "one in a folder step-NNNNNNNN.",
                             path, kIndexFile, kSingleFile));
  return found.complete[0].path;
}

void CheckpointFolder::set_aside(const SavedStep& saved) const {
  std::string name = saved.path + ".damaged";
  std::error_code failed;
  for (int i = 2; fs::exists(name, failed); ++i) name = fmt::format("{}.damaged-{}", saved.path, i);
  fs::rename(saved.path, name, failed);
  PHI_CHECK(!failed, errors::Unavailable("'{}' cannot be renamed to '{}': {}.", saved.path, name,
                                         failed.message()));
}

}  // namespace phi::distributed::checkpoint
