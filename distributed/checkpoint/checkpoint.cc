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
#include "distributed/checkpoint/part_file.h"
#include "distributed/checkpoint/safetensors.h"
#include "phi/common/errors.h"
#include "phi/common/nearest_name.h"
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

std::string read_text(const std::string& path) {
  const auto file = MappedFile::open(path, MappedFile::Access::kReadAhead);
  std::string text(file->size(), '\0');
  file->read(0, std::as_writable_bytes(std::span(text)));
  return text;
}

// Calls f for boxes of at most `limit` elements that make up `box`, in row-major order.
template <typename F>
void for_each_chunk(const Box& box, int64_t limit, const F& f) {
  if (box.empty()) return;
  if (box.numel() <= limit) return f(box);
  int d = 0;
  while (box.size[d] == 1) ++d;
  const int64_t rows = std::max<int64_t>(1, limit / box.size.numel(d + 1, box.ndim()));
  for (int64_t begin = 0; begin < box.size[d]; begin += rows) {
    Box chunk = box;
    chunk.offset[d] += begin;
    chunk.size[d] = std::min(rows, box.size[d] - begin);
    for_each_chunk(chunk, limit, f);
  }
}

}  // namespace

// What all copies of a handle, and their sources, share.
class Checkpoint::State {
 public:
  explicit State(std::string path) : path_(std::move(path)) {
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

  const std::string& path() const { return path_; }
  const std::map<std::string, IndexedTensor>& tensors() const { return tensors_; }
  int64_t bytes_read() const { return bytes_read_.load(); }

  const IndexedTensor& find(const std::string& name) const {
    const auto found = tensors_.find(name);
    if (found != tensors_.end()) return found->second;
    std::vector<std::string> names;
    for (const auto& [known, indexed] : tensors_) names.push_back(known);
    throw errors::NotFound("the checkpoint '{}' has no tensor '{}'{}", path_, name,
                           ending(did_you_mean(name, names)));
  }

  // Copies `box` of the tensor to `out`, row-major, in the dtype on disk.
  void read(const IndexedTensor& indexed, const Box& box, void* out) const {
    for (const Piece& piece : indexed.pieces) {
      const Box region = intersect(piece.box, box);
      if (region.empty()) continue;
      const FilePtr file = this->file(piece.file);
      const TensorEntry* entry = file->find(piece.name);
      const TensorMeta expected{piece.box.size, indexed.meta.dtype};
      PHI_CHECK(entry, errors::InvalidArgument("'{}' has no tensor '{}', of which the index tells.",
                                               file->path(), piece.name));
      PHI_CHECK(
          entry->meta == expected,
          errors::InvalidArgument("'{}': tensor '{}' is {}; the index tells of {}.", file->path(),
                                  piece.name, entry->meta.to_string(), expected.to_string()));
      file->read(*entry, piece.box, region, out, box);
      bytes_read_ += region.numel() * static_cast<int64_t>(size_of(indexed.meta.dtype));
    }
  }

 private:
  static std::string ending(const std::string& hint) { return hint.empty() ? "." : hint; }

  void take_file(const std::string& name) {
    for (const TensorEntry& entry : file(name)->header().tensors) {
      tensors_[entry.name] = {
          entry.name, entry.meta, {{name, entry.name, Box::whole(entry.meta.dims)}}};
    }
  }

  void take_index() {
    const std::string path = (folder_ / kIndexFile).string();
    Index index = Index::decode(read_text(path), path);
    save_id_ = index.save_id;
    for (IndexedTensor& indexed : index.tensors) {
      if (indexed.meta.dtype == DataType::UNDEFINED) complete(&indexed);
      tensors_[indexed.name] = std::move(indexed);
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
  std::map<std::string, IndexedTensor> tensors_;
  mutable std::mutex mutex_;
  mutable std::map<std::string, FilePtr> files_;  // those in use, by name
  mutable std::atomic<int64_t> bytes_read_{0};
};

class Checkpoint::PieceSource final : public Storage::Source {
 public:
  PieceSource(std::shared_ptr<const State> state, const IndexedTensor& indexed, DataType dtype)
      : state_(std::move(state)), indexed_(indexed), meta_{indexed.meta.dims, dtype} {}

  const TensorMeta& meta() const override { return meta_; }
  std::optional<Tier> tier() const override { return Tier::kDisk; }
  int64_t stored_bytes(const Box& box) const override {
    return box.numel() * static_cast<int64_t>(size_of(indexed_.meta.dtype));
  }

  void read(const Box& box, DenseTensor* out) const override {
    PHI_CHECK(out->dims() == box.size && out->dtype() == meta_.dtype,
              errors::InvalidArgument("box {} of tensor '{}' {} is read into {}.", box.to_string(),
                                      indexed_.name, meta_.to_string(), out->meta().to_string()));
    auto* to = static_cast<std::byte*>(out->mutable_raw_data());
    const DataType stored = indexed_.meta.dtype;
    if (stored == meta_.dtype) return state_->read(indexed_, box, to);
    std::vector<std::byte> chunk_bytes(static_cast<size_t>(std::min(kChunkElements, box.numel())) *
                                       size_of(stored));
    for_each_chunk(box, kChunkElements, [&](const Box& chunk) {
      state_->read(indexed_, chunk, chunk_bytes.data());
      convert(chunk_bytes.data(), stored, to, meta_.dtype, chunk.numel());
      to += static_cast<size_t>(chunk.numel()) * size_of(meta_.dtype);
    });
  }

 private:
  std::shared_ptr<const State> state_;
  const IndexedTensor& indexed_;  // in the state
  TensorMeta meta_;
};

Checkpoint open(const std::string& path) {
  return Checkpoint(std::make_shared<const Checkpoint::State>(path));
}

const std::string& Checkpoint::path() const { return state_->path(); }
int64_t Checkpoint::bytes_read() const { return state_->bytes_read(); }
bool Checkpoint::contains(const std::string& name) const {
  return state_->tensors().contains(name);
}
const TensorMeta& Checkpoint::meta(const std::string& name) const {
  return state_->find(name).meta;
}

std::vector<std::string> Checkpoint::names() const {
  std::vector<std::string> names;
  for (const auto& [name, indexed] : state_->tensors()) names.push_back(name);
  return names;
}

std::shared_ptr<const Storage::Source> Checkpoint::source(const std::string& name) const {
  return source(name, meta(name).dtype);
}

std::shared_ptr<const Storage::Source> Checkpoint::source(const std::string& name,
                                                          DataType dtype) const {
  const IndexedTensor& indexed = state_->find(name);
  PHI_CHECK(convertible(indexed.meta.dtype, dtype),
            errors::InvalidArgument("tensor '{}' is {} in '{}' and is not converted to {}.", name,
                                    indexed.meta.to_string(), path(), phi::name_of(dtype)));
  return std::make_shared<const PieceSource>(state_, indexed, dtype);
}

void Checkpoint::check(std::span<const Wanted> wanted, Extras extras) const {
  std::set<std::string> wanted_names;
  for (const Wanted& w : wanted) wanted_names.insert(w.name);
  std::vector<std::string> unused;  // what a missing name may have been meant for
  for (const auto& [name, indexed] : state_->tensors()) {
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
