// Assigns tensors to files, and writes the files in parts.
#include "distributed/checkpoint/merge.h"

#include <algorithm>
#include <filesystem>
#include <list>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include "distributed/checkpoint/format/index.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/saving/commit.h"
#include "distributed/checkpoint/saving/receipt.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/folder_lock.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/errors.h"
#include "phi/core/box_chunks.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;

// Bytes in memory at a time.
constexpr int64_t kChunkBytes = int64_t{16} << 20;

Receipt write_tensors(const Checkpoint& from, const std::vector<std::string>& names,
                      std::map<std::string, std::string> metadata, PartFile* part) {
  SafetensorsHeader header;
  header.metadata = std::move(metadata);
  header.metadata["format"] = "pt";  // required by Hugging Face's loaders
  for (const std::string& name : names) header.tensors.push_back({name, from.meta(name), 0, 0});
  header.lay_out();
  const std::string front = header.encode();
  part->write(std::as_bytes(std::span(front)));
  Receipt receipt{checksum(front), {}};
  std::vector<std::byte> bytes;
  for (const TensorEntry& entry : header.tensors) {
    const auto width = static_cast<int64_t>(size_of(entry.meta.dtype));
    BlockChecksums sums;
    for_each_chunk(Box::whole(entry.meta.dims), kChunkBytes / width, [&](const Box& chunk) {
      bytes.resize(static_cast<size_t>(chunk.numel() * width));
      from.read(entry.name, chunk, entry.meta.dtype, bytes.data());
      sums.add(bytes);
      part->write(bytes);
    });
    receipt.sums[entry.name] = sums.finish();
  }
  return receipt;
}

// Files that get their names together, or not at all.
class NewFiles {
 public:
  NewFiles() : id_(random_save_id()) {}
  ~NewFiles() {
    for (PartFile& part : parts_) part.discard();
  }
  NewFiles(const NewFiles&) = delete;
  NewFiles& operator=(const NewFiles&) = delete;

  const std::string& id() const { return id_; }

  Receipt add(const Checkpoint& from, const std::vector<std::string>& names,
              const std::map<std::string, std::string>& metadata, const fs::path& path) {
    PartFile& part = parts_.emplace_back(path.string(), id_);
    Receipt receipt = write_tensors(from, names, metadata, &part);
    part.finish();
    return receipt;
  }

  void commit() {
    for (; !parts_.empty(); parts_.pop_front()) parts_.front().commit();
  }
  // Leaves the naming to commit_save.
  void leave() { parts_.clear(); }

 private:
  std::string id_;
  std::list<PartFile> parts_;  // still under temporary names
};

std::vector<std::vector<std::string>> names_of_files(const Checkpoint& from, int64_t max_bytes) {
  std::vector<std::vector<std::string>> files;
  int64_t bytes = 0;
  for (const std::string& name : from.names()) {
    const auto more = static_cast<int64_t>(from.meta(name).nbytes());
    if (files.empty() || bytes + more > max_bytes) {
      files.emplace_back();
      bytes = 0;
    }
    files.back().push_back(name);
    bytes += more;
  }
  if (files.empty()) files.emplace_back();
  return files;
}

void check_has_no_weights(const std::string& folder) {
  std::error_code failed;
  for (const auto& entry : fs::directory_iterator(folder, failed)) {
    const std::string file = entry.path().filename().string();
    PHI_CHECK(
        file != kIndexFile && entry.path().extension() != ".safetensors",
        errors::AlreadyExists(
            "the folder '{}' has weights ('{}'); choose a folder without weights.", folder, file));
  }
}

std::string weight_map_of(const Checkpoint& from, const std::vector<std::string>& files,
                          const std::vector<std::vector<std::string>>& names) {
  size_t total = 0;
  Json weight_map = Json::object();
  for (size_t i = 0; i < files.size(); ++i) {
    for (const std::string& name : names[i]) {
      weight_map[name] = files[i];
      total += from.meta(name).nbytes();
    }
  }
  return Json{{"metadata", {{"total_size", total}}}, {"weight_map", weight_map}}.dump(2) + "\n";
}

std::string name_of_file(size_t i, size_t count) {
  return file_of_rank(static_cast<int64_t>(i), static_cast<int64_t>(count));
}

void check_max_bytes(int64_t max_file_bytes) {
  PHI_CHECK(max_file_bytes > 0,
            errors::InvalidArgument("the largest file size is {} bytes; it must be at least 1.",
                                    max_file_bytes));
}

}  // namespace

void merge(const Checkpoint& from, const std::string& path) {
  NewFiles files;
  files.add(from, from.names(), from.metadata(), path);
  files.commit();
  sync_folder(fs::absolute(path).parent_path().string());
}

void merge_to_folder(const Checkpoint& from, const std::string& folder, int64_t max_file_bytes) {
  check_max_bytes(max_file_bytes);
  check_has_no_weights(folder);
  make_folder(folder);
  const auto names = names_of_files(from, max_file_bytes);
  const size_t count = names.size();
  std::vector<std::string> file_names;
  NewFiles files;
  for (size_t i = 0; i < count; ++i) {
    file_names.push_back(name_of_file(i, count));
    files.add(from, names[i], {}, fs::path(folder) / file_names.back());
  }
  files.commit();
  sync_folder(folder);
  if (count == 1) return;
  write_text((fs::path(folder) / kIndexFile).string(), weight_map_of(from, file_names, names));
}

void copy_to_folder(const Checkpoint& from, const std::string& folder,
                    const std::map<std::string, std::string>& metadata, int64_t max_file_bytes) {
  check_max_bytes(max_file_bytes);
  const FolderLock lock(folder);
  check_has_no_weights(folder);
  const auto names = names_of_files(from, max_file_bytes);
  NewFiles files;
  Index index{files.id(), {}, metadata};
  index.metadata.insert(from.metadata().begin(), from.metadata().end());
  for (size_t i = 0; i < names.size(); ++i) {
    const std::string file = name_of_file(i, names.size());
    Receipt receipt = files.add(from, names[i], {{kSaveKey, files.id()}}, fs::path(folder) / file);
    index.headers[file] = receipt.header;
    for (const std::string& name : names[i]) {
      const TensorMeta& meta = from.meta(name);
      index.tensors.push_back(
          {name, meta, {{file, name, Box::whole(meta.dims), std::move(receipt.sums[name])}}});
    }
  }
  commit_save(folder, index, {}, [&] { files.leave(); });
}

}  // namespace phi::distributed::checkpoint
