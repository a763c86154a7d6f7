// Finding a checkpoint's files, and reading boxes from the pieces in them.
#include "distributed/checkpoint/checkpoint.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <map>
#include <mutex>
#include <set>
#include <utility>

#include "distributed/checkpoint/convert.h"
#include "distributed/checkpoint/index.h"
#include "distributed/checkpoint/json.h"
#include "distributed/checkpoint/part_file.h"
#include "distributed/checkpoint/safetensors.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
#include "phi/core/box_chunks.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using FilePtr = std::shared_ptr<const SafetensorsFile>;

// Elements that are converted at a time: what is read is still in the cache then.
constexpr int64_t kChunkElements = 1 << 16;

bool is_there(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

// What all copies of a handle, and their sources, share.
class Files final : public Checkpoint::Tensors {
 public:
  explicit Files(std::string path) : path_(std::move(path)) {
    std::error_code ignored;
    if (!fs::is_directory(path_, ignored)) {
      folder_ = fs::path(path_).parent_path();
      take_file(fs::path(path_).filename());
      return;
    }
    folder_ = path_;
    if (is_there(folder_ / kIndexFile)) {
      take_index();
      return;
    }
    PHI_CHECK(is_there(folder_ / kSingleFile),
              errors::NotFound("there is no checkpoint in '{}': neither {} nor {}.", path_,
                               kIndexFile, kSingleFile));
    take_file(kSingleFile);
  }

  const std::string& path() const override { return path_; }
  const std::map<std::string, TensorMeta>& metas() const override { return metas_; }
  const std::map<std::string, std::string>& metadata() const override { return metadata_; }
  int64_t bytes_read() const override { return bytes_read_.load(); }

  void read(const std::string& name, const Box& box, DataType dtype, void* out) const override {
    const TensorMeta& meta = metas_.at(name);
    const std::vector<Piece>& pieces = pieces_.at(name);
    if (meta.dtype == dtype) return read_stored(meta, pieces, box, out);
    auto* to = static_cast<std::byte*>(out);
    std::vector<std::byte> chunk_bytes(static_cast<size_t>(std::min(kChunkElements, box.numel())) *
                                       size_of(meta.dtype));
    for_each_chunk(box, kChunkElements, [&](const Box& chunk) {
      read_stored(meta, pieces, chunk, chunk_bytes.data());
      convert(chunk_bytes.data(), meta.dtype, to, dtype, chunk.numel());
      to += static_cast<size_t>(chunk.numel()) * size_of(dtype);
    });
  }

 private:
  // In the dtype on disk.
  void read_stored(const TensorMeta& meta, const std::vector<Piece>& pieces, const Box& box,
                   void* out) const {
    for (const Piece& piece : pieces) {
      const Box region = intersect(piece.box, box);
      if (region.empty()) continue;
      const FilePtr file = this->file(piece.file);
      const TensorEntry* entry = file->find(piece.name);
      const TensorMeta expected{piece.box.size, meta.dtype};
      PHI_CHECK(entry, errors::InvalidArgument("'{}' has no tensor '{}', of which the index tells.",
                                               file->path(), piece.name));
      PHI_CHECK(
          entry->meta == expected,
          errors::InvalidArgument("'{}': tensor '{}' is {}; the index tells of {}.", file->path(),
                                  piece.name, entry->meta.to_string(), expected.to_string()));
      file->read(*entry, piece.box, region, out, box);
      bytes_read_ += region.numel() * static_cast<int64_t>(size_of(meta.dtype));
    }
  }

  void take_file(const std::string& name) {
    const SafetensorsHeader& header = file(name)->header();
    metadata_ = header.metadata;
    std::erase_if(metadata_, [](const auto& entry) { return is_taken(entry.first); });
    for (const TensorEntry& entry : header.tensors) {
      metas_[entry.name] = entry.meta;
      pieces_[entry.name] = {{name, entry.name, Box::whole(entry.meta.dims)}};
    }
  }

  void take_index() {
    const std::string path = (folder_ / kIndexFile).string();
    Index index = Index::decode(read_text(path), path);
    save_id_ = index.save_id;
    metadata_ = std::move(index.metadata);
    for (IndexedTensor& indexed : index.tensors) {
      if (indexed.meta.dtype == DataType::UNDEFINED) complete(&indexed);
      metas_[indexed.name] = indexed.meta;
      pieces_[indexed.name] = std::move(indexed.pieces);
    }
  }

  // Of a weight_map's tensor only the file knows more.
  void complete(IndexedTensor* indexed) const {
    Piece& piece = indexed->pieces.front();
    const FilePtr in = file(piece.file);
    const TensorEntry* entry = in->find(piece.name);
    PHI_CHECK(entry, errors::InvalidArgument("'{}' has no tensor '{}', of which the index tells.",
                                             in->path(), piece.name));
    indexed->meta = entry->meta;
    piece.box = Box::whole(entry->meta.dims);
  }

  FilePtr file(const std::string& name) const {
    const std::lock_guard lock(mutex_);
    FilePtr& file = files_[name];
    if (!file) file = open_file((folder_ / name).string());
    return file;
  }

  // A save that was cut off after its index became valid has left files under temporary names.
  FilePtr open_file(const std::string& path) const {
    if (save_id_.empty()) return SafetensorsFile::open(path);
    const std::string part = part_path(path, save_id_);
    FilePtr file = SafetensorsFile::open(is_there(part) ? part : path);
    const auto& metadata = file->header().metadata;
    const auto id = metadata.find(kSaveKey);
    PHI_CHECK(
        id != metadata.end() && id->second == save_id_,
        errors::InvalidArgument("'{}' is not of the save that {} tells of; put the right file "
                                "there, or remove the index to read the file alone.",
                                path, kIndexFile));
    return file;
  }

  std::string path_;
  fs::path folder_;
  std::string save_id_;  // empty: any files will do
  std::map<std::string, std::string> metadata_;
  std::map<std::string, TensorMeta> metas_;
  std::map<std::string, std::vector<Piece>> pieces_;  // by tensor
  mutable std::mutex mutex_;
  mutable std::map<std::string, FilePtr> files_;  // those in use, by name
  mutable std::atomic<int64_t> bytes_read_{0};
};

std::string ending(const std::string& hint) { return hint.empty() ? "." : hint; }

}  // namespace

class Checkpoint::BoxSource final : public Storage::Source {
 public:
  BoxSource(std::shared_ptr<const Tensors> tensors, std::string name, const TensorMeta& stored,
            DataType dtype)
      : tensors_(std::move(tensors)),
        name_(std::move(name)),
        meta_{stored.dims, dtype},
        stored_(stored.dtype) {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override {
    return box.numel() * static_cast<int64_t>(size_of(stored_));
  }

  void read(const Box& box, DenseTensor* out) const override {
    PHI_CHECK(out->dims() == box.size && out->dtype() == meta_.dtype,
              errors::InvalidArgument("box {} of tensor '{}' {} is read into {}.", box.to_string(),
                                      name_, meta_.to_string(), out->meta().to_string()));
    tensors_->read(name_, box, meta_.dtype, out->mutable_raw_data());
  }

 private:
  std::shared_ptr<const Tensors> tensors_;
  std::string name_;
  TensorMeta meta_;
  DataType stored_;
};

Checkpoint open(const std::string& path) { return Checkpoint(std::make_shared<const Files>(path)); }

const std::string& Checkpoint::path() const { return tensors_->path(); }
int64_t Checkpoint::bytes_read() const { return tensors_->bytes_read(); }
bool Checkpoint::contains(const std::string& name) const {
  return tensors_->metas().contains(name);
}

const TensorMeta& Checkpoint::meta(const std::string& name) const {
  const auto found = tensors_->metas().find(name);
  PHI_CHECK(found != tensors_->metas().end(),
            errors::NotFound("the checkpoint '{}' has no tensor '{}'{}", path(), name,
                             ending(did_you_mean(name, names()))));
  return found->second;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, meta] : tensors_->metas()) names.push_back(name);
  return names;
}

std::shared_ptr<const Storage::Source> Checkpoint::source(const std::string& name) const {
  return source(name, meta(name).dtype);
}

std::shared_ptr<const Storage::Source> Checkpoint::source(const std::string& name,
                                                          DataType dtype) const {
  const TensorMeta& stored = meta(name);
  PHI_CHECK(convertible(stored.dtype, dtype),
            errors::InvalidArgument("tensor '{}' is {} in '{}' and is not converted to {}.", name,
                                    stored.to_string(), path(), phi::name_of(dtype)));
  return std::make_shared<const BoxSource>(tensors_, name, stored, dtype);
}

void Checkpoint::read(const std::string& name, const Box& box, DataType dtype, void* out) const {
  const TensorMeta& stored = meta(name);
  PHI_CHECK(
      box.ndim() == stored.dims.ndim() && intersect(box, Box::whole(stored.dims)) == box &&
          convertible(stored.dtype, dtype),
      errors::InvalidArgument("tensor '{}' is {} in '{}' and has no box {} of {}.", name,
                              stored.to_string(), path(), box.to_string(), phi::name_of(dtype)));
  tensors_->read(name, box, dtype, out);
}

void Checkpoint::check(std::span<const Wanted> wanted, Extras extras) const {
  std::set<std::string> wanted_names;
  for (const Wanted& w : wanted) wanted_names.insert(w.name);
  std::vector<std::string> unused;  // what a missing name may have been meant for
  for (const auto& [name, meta] : tensors_->metas()) {
    if (!wanted_names.contains(name)) unused.push_back(name);
  }
  std::string faults;
  for (const auto& [name, meta] : wanted) {
    if (!contains(name)) {
      faults += fmt::format("\n  '{}' {} is missing{}", name, meta.to_string(),
                            did_you_mean(name, unused));
      continue;
    }
    const TensorMeta& found = this->meta(name);
    if (found.dims != meta.dims || !convertible(found.dtype, meta.dtype)) {
      faults += fmt::format("\n  '{}' should be {}, and is {}", name, meta.to_string(),
                            found.to_string());
    }
  }
  if (extras == Extras::kRefused) {
    for (const std::string& name : unused) {
      faults += fmt::format("\n  '{}' {} is not wanted", name, meta(name).to_string());
    }
  }
  PHI_CHECK(faults.empty(),
            errors::InvalidArgument("the checkpoint '{}' does not fit:{}", path(), faults));
}

void load(const Checkpoint& checkpoint, std::span<NamedTensor> tensors, Checkpoint::Extras extras) {
  const OpScope scope("load");
  std::vector<Wanted> wanted;
  for (const NamedTensor& named : tensors) wanted.push_back({named.name, named.tensor.meta()});
  checkpoint.check(wanted, extras);
  const int64_t rank = RankContext::current().rank();
  for (NamedTensor& named : tensors) {
    PHI_CHECK(
        !named.tensor.attr()->has_partial(),
        errors::InvalidArgument("tensor '{}' is a partial value, {}; load it as Replicate() or "
                                "Shard(d) and reshard it then.",
                                named.name, named.tensor.to_string()));
    const auto coord = named.tensor.mesh().coord_of(rank);
    if (!coord) continue;
    const Box box = local_box(named.tensor.dims(), *named.tensor.attr(), *coord);
    bring_box(*checkpoint.source(named.name, named.tensor.dtype()), box, &named.tensor.local());
  }
}

}  // namespace phi::distributed::checkpoint
