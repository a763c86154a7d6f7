// Ownership of a file follows from its name, its header and the previous index.
#include "distributed/checkpoint/storage/folder_files.h"

#include <fmt/core.h>
#include <glog/logging.h>
#include <sys/statvfs.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <optional>
#include <regex>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/errors.h"
#include "phi/common/readable_numbers.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;

// Names of data files in saves of any world size.
bool is_data_name(const std::string& file) {
  static const std::regex pattern(R"(model(-\d{5,}-of-\d{5,})?\.safetensors)");
  return std::regex_match(file, pattern);
}

// Names of temporary files, which only this library uses.
bool is_temporary_name(const std::string& file) {
  static const std::regex pattern(
      R"(model(-\d{5,}-of-\d{5,})?\.safetensors(\.index\.json|\.receipt)?\.[0-9a-f]{16}\.part)");
  return std::regex_match(file, pattern);
}

std::set<std::string> names_in(const fs::path& index_path) {
  if (!may_exist(index_path)) return {};
  const std::string path = index_path.string();
  const Index index = Index::decode(read_text(path), path);
  PHI_CHECK(!index.save_id.empty(),
            errors::AlreadyExists("'{}' was written by another tool and is not replaced; choose "
                                  "another folder, or move the file away.",
                                  path));
  std::set<std::string> names;
  for (const IndexedTensor& tensor : index.tensors) {
    for (const TensorPiece& piece : tensor.pieces) names.insert(piece.file);
  }
  return names;
}

bool has_save_id(const fs::path& path) {
  try {
    return SafetensorsFile::open(path.string())->header().metadata.contains(kSaveKey);
  } catch (const Error&) {
    return false;
  }
}

void check_room(const std::string& folder, int64_t bytes_needed) {
  struct statvfs room {};
  PHI_CHECK(statvfs(folder.c_str(), &room) == 0,
            errors::Unavailable("cannot determine the free space of '{}': {}.", folder,
                                std::strerror(errno)));
  const auto free = static_cast<int64_t>(room.f_bavail) * static_cast<int64_t>(room.f_frsize);
  PHI_CHECK(bytes_needed <= free,
            errors::ResourceExhausted("a save needs {} in '{}', which has {} free; choose a folder "
                                      "with more space, or free some.",
                                      human_bytes(bytes_needed), folder, human_bytes(free)));
}

}  // namespace

std::string file_of_rank(int64_t rank, int64_t world_size) {
  if (world_size == 1) return kSingleFile;
  return fmt::format("model-{:05}-of-{:05}.safetensors", rank + 1, world_size);
}

bool may_exist(const fs::path& path) {
  std::error_code failed;
  return fs::exists(path, failed) || failed;
}

bool has_data_file(const std::string& folder) {
  std::error_code failed;
  const fs::directory_iterator entries(folder, failed);
  return !failed && std::ranges::any_of(entries, [](const fs::directory_entry& entry) {
    return is_data_name(entry.path().filename().string());
  });
}

std::set<std::string> replaceable_files(const std::string& folder) {
  std::set<std::string> named = names_in(fs::path(folder) / kIndexFile);
  for (const auto& entry : fs::directory_iterator(folder)) {
    const std::string file = entry.path().filename().string();
    PHI_CHECK(!is_data_name(file) || named.contains(file) || has_save_id(entry.path()),
              errors::AlreadyExists("'{}' was not saved by Autophi and is not replaced; choose "
                                    "another folder, or move the file away.",
                                    entry.path().string()));
  }
  return named;
}

void remove_old_files(const std::string& folder, const std::set<std::string>& old_names,
                      const std::set<std::string>& kept) {
  try {
    for (const auto& entry : fs::directory_iterator(folder)) {
      const std::string file = entry.path().filename().string();
      if (kept.contains(file)) continue;
      if (is_temporary_name(file) || old_names.contains(file) ||
          (is_data_name(file) && has_save_id(entry.path()))) {
        fs::remove(entry.path());
      }
    }
  } catch (const std::exception& error) {
    LOG(WARNING) << "old files in '" << folder << "' cannot be removed: " << error.what();
  }
}

void check_folder(const std::string& folder, int64_t bytes_needed) {
  const FolderLock lock(folder);
  replaceable_files(folder);
  const std::string id = random_save_id();
  PartFile probe((fs::path(folder) / kSingleFile).string(), id);
  try {
    probe.write(std::as_bytes(std::span(id)));
    probe.finish();
  } catch (...) {
    probe.discard();
    throw;
  }
  probe.discard();
  check_room(folder, bytes_needed);
}

}  // namespace phi::distributed::checkpoint
