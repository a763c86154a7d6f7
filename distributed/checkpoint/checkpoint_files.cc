// Finds a checkpoint's files, and reads boxes from the pieces in them.
#include "distributed/checkpoint/checkpoint_files.h"

#include <algorithm>
#include <set>
#include <utility>

#include "distributed/checkpoint/format/convert.h"
#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "distributed/checkpoint/storage/folder_files.h"
#include "distributed/checkpoint/storage/part_file.h"
#include "phi/common/errors.h"
#include "phi/core/box_chunks.h"
#include "phi/core/box_copy.h"

namespace phi::distributed::checkpoint {
namespace {

namespace fs = std::filesystem;
using FilePtr = std::shared_ptr<const SafetensorsFile>;

// Elements per conversion, few enough that the data read is still in cache.
constexpr int64_t kConvertedElements = 1 << 16;

// Calls f(begin, end) for the contiguous element ranges of `region`, in order, in an array that
// holds `box`.
template <typename F>
void for_each_range(const Box& box, Box region, const F& f) {
  if (const auto begin = contiguous_offset(box, region)) {
    return f(*begin, *begin + region.numel());
  }
  int d = 0;
  while (region.size[d] == 1) ++d;
  const int64_t end = region.offset[d] + region.size[d];
  for (region.size[d] = 1; region.offset[d] < end; ++region.offset[d]) {
    for_each_range(box, region, f);
  }
}

}  // namespace

CheckpointFiles::CheckpointFiles(std::string path) : path_(std::move(path)) {
  std::error_code ignored;
  if (!fs::is_directory(path_, ignored)) {
    folder_ = fs::path(path_).parent_path();
    add_file(fs::path(path_).filename());
  } else if (folder_ = path_; may_exist(folder_ / kIndexFile)) {
    add_index();
  } else {
    PHI_CHECK(may_exist(folder_ / kSingleFile),
              errors::NotFound("there is no checkpoint in '{}': neither {} nor {}.", path_,
                               kIndexFile, kSingleFile));
    add_file(kSingleFile);
  }
}

void CheckpointFiles::read(const std::string& name, const Box& box, DataType dtype,
                           void* out) const {
  const TensorMeta& meta = metas_.at(name);
  if (meta.dtype == dtype) return read_stored(name, box, out);
  auto* to = static_cast<std::byte*>(out);
  std::vector<std::byte> chunk_bytes(
      static_cast<size_t>(std::min(kConvertedElements, box.numel())) * size_of(meta.dtype));
  for_each_chunk(box, kConvertedElements, [&](const Box& chunk) {
    read_stored(name, chunk, chunk_bytes.data());
    convert(chunk_bytes.data(), meta.dtype, to, dtype, chunk.numel());
    to += static_cast<size_t>(chunk.numel()) * size_of(dtype);
  });
}

std::vector<std::string> CheckpointFiles::files_of(const std::string& name) const {
  std::set<std::string> names;
  for (const StoredPiece& stored : pieces_.at(name)) names.insert(stored.piece.file);
  return {names.begin(), names.end()};
}

std::vector<std::string> CheckpointFiles::names_of_files() const {
  std::set<std::string> names;
  for (const auto& [tensor, stored_pieces] : pieces_) {
    for (const StoredPiece& stored : stored_pieces) names.insert(stored.piece.file);
  }
  return {names.begin(), names.end()};
}

// Reads in the on-disk dtype.
void CheckpointFiles::read_stored(const std::string& name, const Box& box, void* out) const {
  const DataType dtype = metas_.at(name).dtype;
  for (const StoredPiece& stored : pieces_.at(name)) {
    const Box region = intersect(stored.piece.box, box);
    if (region.empty()) continue;
    const PieceLocation place = location_of(stored.piece, dtype);
    // Copy a block right after its verification, while it is in cache.
    const auto chunk_elements = static_cast<int64_t>(kBlockBytes / size_of(dtype));
    for_each_chunk(region, stored.checked ? chunk_elements : region.numel(), [&](const Box& chunk) {
      if (stored.checked) check_blocks(place, name, stored, chunk);
      place.file->read(*place.entry, stored.piece.box, chunk, out, box);
    });
    bytes_read_ += region.numel() * static_cast<int64_t>(size_of(dtype));
  }
}

CheckpointFiles::PieceLocation CheckpointFiles::location_of(const TensorPiece& piece,
                                                            DataType dtype) const {
  FilePtr in = file(piece.file);
  const TensorEntry* entry = in->find(piece.name);
  const TensorMeta expected{piece.box.size, dtype};
  PHI_CHECK(entry, errors::InvalidArgument("'{}' has no tensor '{}', which the index lists.",
                                           in->path(), piece.name));
  PHI_CHECK(entry->meta == expected,
            errors::InvalidArgument("'{}': tensor '{}' is {}, but {} in the index.", in->path(),
                                    piece.name, entry->meta.to_string(), expected.to_string()));
  return {std::move(in), entry};
}

void CheckpointFiles::check_blocks(const PieceLocation& place, const std::string& tensor,
                                   const StoredPiece& stored, const Box& region) const {
  const size_t width = size_of(place.entry->meta.dtype);
  for_each_range(stored.piece.box, region, [&](int64_t begin, int64_t end) {
    const size_t first = static_cast<size_t>(begin) * width / kBlockBytes;
    const size_t last = (static_cast<size_t>(end) * width - 1) / kBlockBytes;
    for (size_t block = first; block <= last; ++block) {
      if (stored.checked[block].load(std::memory_order_acquire)) continue;
      check_block(place, tensor, stored.piece, block);
      stored.checked[block].store(true, std::memory_order_release);
    }
  });
}

void CheckpointFiles::check_block(const PieceLocation& place, const std::string& tensor,
                                  const TensorPiece& piece, size_t block) const {
  const size_t begin = block * kBlockBytes;
  const size_t end = std::min(begin + kBlockBytes, place.entry->meta.nbytes());
  PHI_CHECK(
      place.file->checksum(*place.entry, begin, end) == piece.sums[block],
      errors::InvalidArgument(
          "'{}' is damaged: the bytes of tensor '{}' in block {} of {} ('{}', bytes {} to {}) "
          "differ from those that were saved; use another checkpoint, or a copy of the file.",
          place.file->path(), tensor, block + 1, piece.sums.size(), piece.name, begin, end));
}

void CheckpointFiles::add_file(const std::string& name) {
  const SafetensorsHeader& header = file(name)->header();
  metadata_ = header.metadata;
  std::erase_if(metadata_, [](const auto& entry) { return is_reserved(entry.first); });
  for (const TensorEntry& entry : header.tensors) {
    add_tensor({entry.name, entry.meta, {{name, entry.name, Box::whole(entry.meta.dims)}}});
  }
}

void CheckpointFiles::add_index() {
  const std::string path = (folder_ / kIndexFile).string();
  Index index = Index::decode(read_text(path), path);
  save_id_ = index.save_id;
  headers_ = std::move(index.headers);
  metadata_ = std::move(index.metadata);
  for (IndexedTensor& indexed : index.tensors) {
    if (indexed.meta.dtype == DataType::UNDEFINED) complete(&indexed);
    add_tensor(std::move(indexed));
  }
}

void CheckpointFiles::add_tensor(IndexedTensor indexed) {
  metas_[indexed.name] = indexed.meta;
  for (TensorPiece& piece : indexed.pieces) {
    StoredPiece stored{std::move(piece)};
    const size_t blocks = stored.piece.sums.size();
    if (blocks > 0) stored.checked = std::make_unique<std::atomic<bool>[]>(blocks);
    pieces_[indexed.name].push_back(std::move(stored));
  }
}

// A tensor from a weight_map has its metadata in the file only.
void CheckpointFiles::complete(IndexedTensor* indexed) const {
  TensorPiece& piece = indexed->pieces.front();
  const FilePtr in = file(piece.file);
  const TensorEntry* entry = in->find(piece.name);
  PHI_CHECK(entry, errors::InvalidArgument("'{}' has no tensor '{}', which the index lists.",
                                           in->path(), piece.name));
  indexed->meta = entry->meta;
  piece.box = Box::whole(entry->meta.dims);
}

FilePtr CheckpointFiles::file(const std::string& name) const {
  const std::lock_guard lock(mutex_);
  FilePtr& file = files_[name];
  if (!file) file = open_file(name);
  return file;
}

// A save that was interrupted after its index became valid has left files under temporary names.
FilePtr CheckpointFiles::open_file(const std::string& name) const {
  const std::string path = (folder_ / name).string();
  if (save_id_.empty()) return SafetensorsFile::open(path);
  const std::string part = part_path(path, save_id_);
  FilePtr file = SafetensorsFile::open(may_exist(part) ? part : path);
  const auto& metadata = file->header().metadata;
  const auto id = metadata.find(kSaveKey);
  PHI_CHECK(id != metadata.end() && id->second == save_id_,
            errors::InvalidArgument("'{}' does not belong to the save that {} describes; put the "
                                    "right file there, or remove the index to read the file alone.",
                                    path, kIndexFile));
  const auto sum = headers_.find(name);
  PHI_CHECK(sum == headers_.end() || sum->second == file->header_checksum(),
            errors::InvalidArgument("'{}' is damaged: its header is not the one that was saved.",
                                    file->path()));
  return file;
}

}  // namespace phi::distributed::checkpoint
