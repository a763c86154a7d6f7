// Converts a header to text and back, and copies from the mapped file.
#include "distributed/checkpoint/format/safetensors.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cstring>
#include <span>
#include <tuple>
#include <utility>

#include "distributed/checkpoint/format/json.h"
#include "distributed/checkpoint/storage/checksum.h"
#include "phi/common/errors.h"
#include "phi/core/box_copy.h"

namespace phi::distributed::checkpoint {
namespace {

static_assert(std::endian::native == std::endian::little,
              "tensors are written in the byte order of the host");

constexpr size_t kLengthBytes = 8;
// The limit of the format's reference implementation.
constexpr uint64_t kMaxHeaderBytes = 100'000'000;
constexpr const char* kMetadataKey = "__metadata__";

constexpr std::array<std::string_view, kNumDataTypes> kDtypeNames = {
    "", "BOOL", "U8", "I32", "I64", "F16", "BF16", "F32", "F64", "I8", "I16", "C64", "C128"};

TensorEntry decode_entry(const JsonFile& file, const std::string& name, const Json& value,
                         size_t data_bytes) {
  const std::string tensor = fmt::format("tensor '{}'", name);
  TensorEntry entry{name, {}, 0, 0};
  const std::string& dtype = file.string(file.member(value, "dtype", tensor), "dtype of " + tensor);
  entry.meta.dtype = dtype_of_safetensors_name(dtype);
  PHI_CHECK(
      entry.meta.dtype != DataType::UNDEFINED,
      errors::InvalidArgument("'{}': {} has dtype '{}', expected one of {}.", file.path(), tensor,
                              dtype, fmt::join(std::span(kDtypeNames).subspan(1), ", ")));
  entry.meta.dims = file.dims(file.member(value, "shape", tensor), "shape of " + tensor);
  const Dims offsets =
      file.dims(file.member(value, "data_offsets", tensor), "data_offsets of " + tensor);
  PHI_CHECK(offsets.ndim() == 2 && offsets[0] <= offsets[1],
            errors::InvalidArgument("'{}': data_offsets {} of {} are not [begin, end].",
                                    file.path(), offsets.to_string(), tensor));
  entry.begin = static_cast<size_t>(offsets[0]);
  entry.end = static_cast<size_t>(offsets[1]);
  PHI_CHECK(entry.end <= data_bytes,
            errors::InvalidArgument("'{}': {} ends at byte {}, but the file has {} bytes of data.",
                                    file.path(), tensor, entry.end, data_bytes));
  PHI_CHECK(
      checked_nbytes(entry.meta) == entry.end - entry.begin,
      errors::InvalidArgument("'{}': {} is {}, which does not match its {} bytes.", file.path(),
                              tensor, entry.meta.to_string(), entry.end - entry.begin));
  return entry;
}

// Every byte of the data belongs to exactly one tensor.
void check_no_overlap(const std::vector<TensorEntry>& tensors, size_t data_bytes,
                      const std::string& path) {
  size_t end = 0;
  std::string_view before;
  for (const TensorEntry& entry : tensors) {
    PHI_CHECK(entry.begin >= end,
              errors::InvalidArgument("'{}': tensors '{}' and '{}' overlap at byte {}.", path,
                                      before, entry.name, entry.begin));
    PHI_CHECK(
        entry.begin == end,
        errors::InvalidArgument("'{}': the bytes [{}, {}) before tensor '{}' belong to no tensor.",
                                path, end, entry.begin, entry.name));
    end = entry.end;
    before = entry.name;
  }
  PHI_CHECK(end == data_bytes,
            errors::InvalidArgument("'{}': the last {} bytes belong to no tensor.", path,
                                    data_bytes - end));
}

void sort_by_bytes(std::vector<TensorEntry>* tensors) {
  std::ranges::sort(*tensors, {}, [](const TensorEntry& e) {
    return std::tuple(e.begin, e.end, std::string_view(e.name));
  });
}

}  // namespace

std::string_view safetensors_name_of(DataType dtype) {
  return kDtypeNames[static_cast<size_t>(dtype)];
}

DataType dtype_of_safetensors_name(std::string_view name) {
  const auto found = std::find(kDtypeNames.begin() + 1, kDtypeNames.end(), name);
  if (found == kDtypeNames.end()) return DataType::UNDEFINED;
  return static_cast<DataType>(found - kDtypeNames.begin());
}

std::optional<size_t> checked_nbytes(const TensorMeta& meta) {
  if (std::ranges::find(meta.dims, 0) != meta.dims.end()) return 0;
  size_t bytes = size_of(meta.dtype);
  for (int64_t extent : meta.dims) {
    if (__builtin_mul_overflow(bytes, static_cast<size_t>(extent), &bytes)) return std::nullopt;
  }
  return bytes;
}

void SafetensorsHeader::lay_out() {
  std::ranges::sort(tensors, {}, [](const TensorEntry& e) {
    return std::pair(-static_cast<int>(size_of(e.meta.dtype)), std::string_view(e.name));
  });
  size_t end = 0;
  for (TensorEntry& entry : tensors) {
    entry.begin = end;
    entry.end = end = entry.begin + entry.meta.nbytes();
  }
}

std::string SafetensorsHeader::encode() const {
  Json json = Json::object();
  if (!metadata.empty()) json[kMetadataKey] = metadata;
  for (const TensorEntry& entry : tensors) {
    PHI_CHECK(entry.name != kMetadataKey && !json.contains(entry.name),
              errors::InvalidArgument("two tensors of one file would be named '{}'.", entry.name));
    json[entry.name] = {{"dtype", safetensors_name_of(entry.meta.dtype)},
                        {"shape", entry.meta.dims.to_vector()},
                        {"data_offsets", {entry.begin, entry.end}}};
  }
  std::string text;
  try {
    text = json.dump();
  } catch (const Json::exception& error) {
    throw errors::InvalidArgument("a tensor's name is not UTF-8: {}.", error.what());
  }
  text.resize((text.size() + 7) / 8 * 8, ' ');
  PHI_CHECK(
      text.size() <= kMaxHeaderBytes,
      errors::InvalidArgument("{} tensors need a header of {} bytes; a file allows at most {}.",
                              tensors.size(), text.size(), kMaxHeaderBytes));
  const uint64_t length = text.size();
  std::string out(kLengthBytes, '\0');
  std::memcpy(out.data(), &length, kLengthBytes);
  return out + text;
}

SafetensorsHeader SafetensorsHeader::decode(std::string_view text, size_t data_bytes,
                                            const std::string& path) {
  const JsonFile file(path, text);
  SafetensorsHeader header;
  for (const auto& [name, value] : file.object(file.root(), "the header").items()) {
    if (name != kMetadataKey) {
      header.tensors.push_back(decode_entry(file, name, value, data_bytes));
      continue;
    }
    for (const auto& [key, text_of_key] : file.object(value, kMetadataKey).items()) {
      header.metadata[key] = file.string(text_of_key, fmt::format("{} '{}'", kMetadataKey, key));
    }
  }
  sort_by_bytes(&header.tensors);
  check_no_overlap(header.tensors, data_bytes, path);
  return header;
}

std::shared_ptr<const SafetensorsFile> SafetensorsFile::open(const std::string& path) {
  std::shared_ptr<SafetensorsFile> out(new SafetensorsFile);
  out->file_ = MappedFile::open(path, MappedFile::AccessPattern::kReadAhead);
  const size_t file_bytes = out->file_->size();
  PHI_CHECK(file_bytes >= kLengthBytes,
            errors::InvalidArgument("'{}' has {} bytes, too few for a safetensors file.", path,
                                    file_bytes));
  uint64_t length = 0;
  out->file_->read(0, std::as_writable_bytes(std::span(&length, 1)));
  PHI_CHECK(length <= file_bytes - kLengthBytes && length <= kMaxHeaderBytes,
            errors::InvalidArgument("'{}' declares a header of {} bytes, but has {} in all (and a "
                                    "header has at most {}); it is not a safetensors file.",
                                    path, length, file_bytes, kMaxHeaderBytes));
  std::string front(kLengthBytes + length, '\0');
  out->file_->read(0, std::as_writable_bytes(std::span(front)));
  const std::string_view text = std::string_view(front).substr(kLengthBytes);
  out->data_begin_ = front.size();
  out->header_checksum_ = checkpoint::checksum(front);
  out->header_ = SafetensorsHeader::decode(text, file_bytes - out->data_begin_, path);
  for (size_t i = 0; i < out->header_.tensors.size(); ++i) {
    out->positions_[out->header_.tensors[i].name] = i;
  }
  return out;
}

const TensorEntry* SafetensorsFile::find(const std::string& name) const {
  const auto found = positions_.find(name);
  return found == positions_.end() ? nullptr : &header_.tensors[found->second];
}

uint64_t SafetensorsFile::checksum(const TensorEntry& entry, size_t begin, size_t end) const {
  const size_t first = data_begin_ + entry.begin;
  uint64_t sum = 0;
  file_->access(first + begin, first + end, [&](const std::byte* file) {
    sum = checkpoint::checksum(std::span(file + first + begin, end - begin));
  });
  return sum;
}

void SafetensorsFile::read(const TensorEntry& entry, const Box& box, const Box& region, void* out,
                           const Box& out_box) const {
  file_->access(data_begin_ + entry.begin, data_begin_ + entry.end, [&](const std::byte* file) {
    copy_box(file + data_begin_ + entry.begin, box, out, out_box, region,
             size_of(entry.meta.dtype));
  });
}

}  // namespace phi::distributed::checkpoint
