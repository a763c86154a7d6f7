// Converts an index to JSON and back.
#include "distributed/checkpoint/format/index.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <set>
#include <utility>

#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/format/safetensors.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "phi/common/errors.h"

namespace phi::distributed::checkpoint {
namespace {

constexpr const char* kSumsKey = "sums";
constexpr const char* kHeadersKey = "headers";
constexpr const char* kBlockBytesKey = "block_bytes";
constexpr const char* kChecksumKey = "checksum";

Json encode_tensor(const IndexedTensor& indexed) {
  Json pieces = Json::array();
  for (const TensorPiece& piece : indexed.pieces) {
    Json encoded = {{"file", piece.file},
                    {"name", piece.name},
                    {"offset", piece.box.offset.to_vector()},
                    {"size", piece.box.size.to_vector()}};
    if (!piece.sums.empty()) encoded[kSumsKey] = encode_sums(piece.sums);
    pieces.push_back(std::move(encoded));
  }
  return {{"dtype", safetensors_name_of(indexed.meta.dtype)},
          {"shape", indexed.meta.dims.to_vector()},
          {"pieces", std::move(pieces)}};
}

// Formats an object with one line per key: readable, and still compact.
std::string lines_of(const Json& object) {
  std::vector<std::string> lines;
  for (const auto& [key, value] : object.items()) {
    lines.push_back(fmt::format("\n  {}: {}", Json(key).dump(), value.dump()));
  }
  return fmt::format("{{{}\n }}", fmt::join(lines, ","));
}

std::string decode_file(const JsonFile& file, const Json& value, const std::string& tensor) {
  const std::string& name = file.string(value, "file of " + tensor);
  PHI_CHECK(!name.empty() && name.find('/') == std::string::npos && name != "." && name != "..",
            errors::InvalidArgument(
                "'{}': file '{}' of {} is not the name of a file in the index's folder.",
                file.path(), name, tensor));
  return name;
}

uint64_t decode_sum(const JsonFile& file, const Json& value, const std::string& what) {
  const auto sums = decode_sums(file.string(value, what));
  PHI_CHECK(sums && sums->size() == 1,
            errors::InvalidArgument("'{}': {} is not a checksum.", file.path(), what));
  return sums->front();
}

std::vector<uint64_t> decode_piece_sums(const JsonFile& file, const Json& piece, size_t nbytes,
                                        const std::string& tensor) {
  const auto found = piece.find(kSumsKey);
  if (found == piece.end()) return {};
  auto sums = decode_sums(file.string(*found, "sums of a piece of " + tensor));
  PHI_CHECK(
      sums && sums->size() == num_blocks(nbytes),
      errors::InvalidArgument("'{}': the sums of a piece of {} are not {} numbers of 16 digits.",
                              file.path(), tensor, num_blocks(nbytes)));
  return *std::move(sums);
}

IndexedTensor decode_tensor(const JsonFile& file, const std::string& name, const Json& value) {
  const std::string tensor = fmt::format("tensor '{}'", name);
  IndexedTensor indexed{name, {}, {}};
  indexed.meta.dtype = dtype_of_safetensors_name(
      file.string(file.member(value, "dtype", tensor), "dtype of " + tensor));
  indexed.meta.dims = file.dims(file.member(value, "shape", tensor), "shape of " + tensor);
  PHI_CHECK(indexed.meta.dtype != DataType::UNDEFINED && checked_nbytes(indexed.meta),
            errors::InvalidArgument("'{}': {} has an unknown dtype or too large a shape, {}.",
                                    file.path(), tensor, value.at("shape").dump()));
  const std::string piece_of = "a piece of " + tensor;
  std::vector<Box> boxes;
  for (const Json& piece :
       file.array(file.member(value, "pieces", tensor), "pieces of " + tensor)) {
    Box box{file.dims(file.member(piece, "offset", piece_of), "offset of " + piece_of),
            file.dims(file.member(piece, "size", piece_of), "size of " + piece_of)};
    indexed.pieces.push_back(
        {decode_file(file, file.member(piece, "file", piece_of), tensor),
         file.string(file.member(piece, "name", piece_of), "name of " + piece_of), box});
    boxes.push_back(box);
  }
  PHI_CHECK(is_grid(indexed.meta.dims, boxes),
            errors::InvalidArgument(
                "'{}': the {} pieces of {} do not cover each element of {} exactly once.",
                file.path(), boxes.size(), tensor, indexed.meta.dims.to_string()));
  for (size_t i = 0; i < boxes.size(); ++i) {  // the boxes' sizes are valid from here
    const size_t nbytes = TensorMeta{boxes[i].size, indexed.meta.dtype}.nbytes();
    indexed.pieces[i].sums = decode_piece_sums(file, value.at("pieces")[i], nbytes, tensor);
  }
  return indexed;
}

// The checksum of the JSON without the checksum itself, independent of its formatting.
uint64_t checksum_of(Json root) {
  root.erase(kChecksumKey);
  return checksum(root.dump());
}

// An index of another tool, or of an early version, has neither key.
void check_own_checksum(const JsonFile& file) {
  const auto told = file.root().find(kChecksumKey);
  if (told == file.root().end()) {
    PHI_CHECK(!file.root().contains(kBlockBytesKey),
              errors::InvalidArgument("'{}' lacks its checksum.", file.path()));
    return;
  }
  PHI_CHECK(decode_sum(file, *told, kChecksumKey) == checksum_of(file.root()),
            errors::InvalidArgument(
                "'{}' is damaged, or was changed by hand: its checksum does not match its content.",
                file.path()));
  const int64_t block =
      file.size(file.member(file.root(), kBlockBytesKey, "the index"), kBlockBytesKey);
  PHI_CHECK(block == static_cast<int64_t>(kBlockBytes),
            errors::Unimplemented(
                "'{}' has checksums of blocks of {} bytes; this program supports blocks of {}.",
                file.path(), block, kBlockBytes));
}

// Keeps texts only; values of other types belong to other tools.
std::map<std::string, std::string> decode_metadata(const Json& metadata) {
  std::map<std::string, std::string> texts;
  for (const auto& [key, value] : metadata.items()) {
    if (value.is_string() && !is_reserved(key)) texts[key] = value.get<std::string>();
  }
  return texts;
}

}  // namespace

bool is_reserved(std::string_view key) {
  return std::ranges::find(kReservedKeys, key) != kReservedKeys.end();
}

bool is_grid(const Dims& global, std::span<const Box> boxes) {
  const auto fits = [&](const Box& box) {
    return box.offset.ndim() == global.ndim() && box.size.ndim() == global.ndim();
  };
  if (!std::ranges::all_of(boxes, fits)) return false;
  size_t cells = 1;
  for (int d = 0; d < global.ndim(); ++d) {
    std::set<std::pair<int64_t, int64_t>> ranges;  // offset, size
    for (const Box& box : boxes) ranges.emplace(box.offset[d], box.size[d]);
    int64_t end = 0;
    for (const auto& [offset, size] : ranges) {
      if (offset != end || size < 0 || size > global[d] - end) return false;
      end += size;
    }
    if (end != global[d] || __builtin_mul_overflow(cells, ranges.size(), &cells)) return false;
  }
  if (cells != boxes.size()) return false;
  // Each box is a cell and there are as many boxes as cells: a grid, unless a box repeats.
  std::set<std::pair<std::vector<int64_t>, std::vector<int64_t>>> distinct;
  for (const Box& box : boxes) distinct.emplace(box.offset.to_vector(), box.size.to_vector());
  return distinct.size() == cells;
}

std::string Index::encode() const {
  size_t total = 0;
  Json weight_map = Json::object();
  Json entries = Json::object();
  for (const IndexedTensor& indexed : tensors) {
    total += indexed.meta.nbytes();
    for (const TensorPiece& piece : indexed.pieces) weight_map[piece.name] = piece.file;
    entries[indexed.name] = encode_tensor(indexed);
  }
  Json all_metadata = metadata;
  all_metadata["total_size"] = total;
  all_metadata[kSaveKey] = save_id;
  Json sums_of_headers = Json::object();
  for (const auto& [file, sum] : headers) sums_of_headers[file] = encode_sums({&sum, 1});
  const Json root = {{"metadata", std::move(all_metadata)},
                     {"weight_map", std::move(weight_map)},
                     {"tensors", std::move(entries)},
                     {kHeadersKey, std::move(sums_of_headers)},
                     {kBlockBytesKey, kBlockBytes}};
  const uint64_t sum = checksum_of(root);
  return fmt::format(
      "{{\n \"metadata\": {},\n \"weight_map\": {},\n \"tensors\": {},\n \"{}\": {},\n \"{}\": "
      "{},\n"
      " \"{}\": \"{}\"\n}}\n",
      root["metadata"].dump(), lines_of(root["weight_map"]), lines_of(root["tensors"]), kHeadersKey,
      lines_of(root[kHeadersKey]), kBlockBytesKey, kBlockBytes, kChecksumKey,
      encode_sums({&sum, 1}));
}

Index Index::decode(std::string_view text, const std::string& path) {
  const JsonFile file(path, text);
  const Json& root = file.object(file.root(), "the index");
  check_own_checksum(file);
  Index index;
  if (const auto found = root.find("metadata"); found != root.end()) {
    index.metadata = decode_metadata(file.object(*found, "metadata"));
  }
  if (const auto tensors = root.find("tensors"); tensors != root.end()) {
    const Json& metadata = file.member(root, "metadata", "the index");
    index.save_id = file.string(file.member(metadata, kSaveKey, "metadata"), "metadata.save");
    for (const auto& [name, value] : file.object(*tensors, "tensors").items()) {
      index.tensors.push_back(decode_tensor(file, name, value));
    }
    if (const auto headers = root.find(kHeadersKey); headers != root.end()) {
      for (const auto& [name, value] : file.object(*headers, kHeadersKey).items()) {
        index.headers[name] = decode_sum(file, value, "the checksum of '" + name + "'");
      }
    }
    return index;
  }
  const Json& weight_map = file.member(root, "weight_map", "the index");
  for (const auto& [name, value] : file.object(weight_map, "weight_map").items()) {
    const std::string in_file = decode_file(file, value, fmt::format("tensor '{}'", name));
    index.tensors.push_back({name, {}, {{in_file, name, {}}}});
  }
  return index;
}

}  // namespace phi::distributed::checkpoint
