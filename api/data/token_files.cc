// Opens each kind of files and reads and checks their ids.
#include "api/data/token_files.h"

#include <algorithm>
#include <array>
#include <filesystem>
#include <string_view>
#include <utility>

#include "api/data/resolve_path.h"
#include "phi/common/errors.h"
#include "phi/common/process/mapped_file.h"
#include "phi/common/process/yield_point.h"
#include "phi/common/sampled_hash.h"
#include "phi/common/split_mix.h"

namespace fs = std::filesystem;

namespace phi::data {
namespace {

using std::string_view_literals::operator""sv;

constexpr int64_t kScanned = 1 << 16;  // ids per read

// File formats other than plain ids, recognised by their first bytes.
struct OtherFormat {
  std::string_view begin;
  std::string_view what;
};
constexpr std::array kOtherFormats = {
    OtherFormat{"\x93NUMPY"sv, "a NumPy array with a header; write it with array.tofile(path)"},
    OtherFormat{"MMIDIDX\0"sv, "an index of Megatron-LM; use kind megatron"},
    OtherFormat{"\x88\xd8\x34\x01\1\0\0\0"sv,
                "a file of llm.c with a header of 1024 bytes; remove these bytes"},
    OtherFormat{"\xa1\xd9\x34\x01\7\0\0\0"sv,
                "a file of llm.c with a header of 1024 bytes; remove these bytes"},
};

void check_is_flat(const std::string& path, int64_t size, TokenType type) {
  std::string begin(static_cast<size_t>(std::min<int64_t>(size, 8)), ' ');
  MappedFile::open(path, MappedFile::AccessPattern::kRandom)
      ->read(0, std::as_writable_bytes(std::span(begin)));
  for (const OtherFormat& format : kOtherFormats) {
    PHI_CHECK(
        !begin.starts_with(format.begin),
        errors::InvalidArgument("'{}' does not contain only ids: it is {}.", path, format.what));
  }
  PHI_CHECK(size % size_of(type) == 0,
            errors::InvalidArgument("'{}' has {} bytes, which is not a multiple of {} ids of {} "
                                    "bytes; set the dtype it was written with.",
                                    path, size, name_of(type), size_of(type)));
}

// The path without .bin or .idx.
std::string prefix_of(const std::string& path) {
  const bool is_file = path.ends_with(".bin") || path.ends_with(".idx");
  return is_file ? path.substr(0, path.size() - 4) : path;
}

}  // namespace

std::shared_ptr<const TokenFiles> TokenFiles::open(const DataOptions& options) {
  PHI_CHECK(!options.paths.empty(),
            errors::InvalidArgument("data of kind {} needs a path.", name_of(options.kind)));
  std::shared_ptr<TokenFiles> files(new TokenFiles);
  files->options_ = options;
  switch (options.kind) {
    case DataKind::kBytes:
      files->open_text();
      break;
    case DataKind::kTokens:
      files->open_flat();
      break;
    case DataKind::kMegatron:
      files->open_megatron();
      break;
    case DataKind::kImages:
      throw errors::InvalidArgument(
          "data of kind images has no token ids; open it with data::ImageData.");
  }
  files->find_documents();
  files->find_fingerprint();
  return files;
}

void TokenFiles::open_text() { corpus_ = Corpus::open(options_.paths, options_.base); }

void TokenFiles::open_flat() {
  type_ = options_.dtype;
  std::vector<std::string> files;
  for (const std::string& path : options_.paths) {
    files.push_back(resolve_path(path, options_.base).string());
    PHI_CHECK(!fs::is_directory(files.back()),
              errors::InvalidArgument("'{}' is a folder; list its files of token ids, in order.",
                                      files.back()));
  }
  corpus_ = Corpus::join(std::move(files));
  for (const Corpus::File& file : corpus_->files()) check_is_flat(file.path, file.size, type_);
}

void TokenFiles::open_megatron() {
  std::vector<std::string> indexes;
  std::vector<std::string> bins;
  for (const std::string& path : options_.paths) {
    indexes.push_back(resolve_path(prefix_of(path) + ".idx", options_.base).string());
    bins.push_back(prefix_of(indexes.back()) + ".bin");
    std::error_code ignored;
    PHI_CHECK(
        fs::exists(bins.back(), ignored),
        errors::NotFound("'{}' has no data: there is no file '{}'.", indexes.back(), bins.back()));
  }
  corpus_ = Corpus::join(std::move(bins));
  for (size_t i = 0; i < indexes.size(); ++i) {
    indexes_.push_back(MegatronIndex::open(indexes[i], corpus_->files()[i].size));
    type_ = indexes_[0]->type();
    PHI_CHECK(indexes_[i]->type() == type_,
              errors::InvalidArgument(
                  "'{}' has ids of {} and '{}' of {}; all data of one run must have one dtype.",
                  indexes[0], name_of(type_), indexes[i], name_of(indexes_[i]->type())));
  }
}

void TokenFiles::find_documents() {
  if (options_.documents == Documents::kJoined) return;
  PHI_CHECK(options_.kind != DataKind::kTokens,
            errors::InvalidArgument(
                "documents cannot be separated in data of kind tokens: its files do not state "
                "where documents end. Use kind megatron, or documents: joined."));
  if (options_.kind == DataKind::kBytes) {
    documents_ = documents_of(corpus_);
    return;
  }
  for (const auto& index : indexes_) index->check_entries();
  documents_ = documents_of(indexes_);
}

void TokenFiles::find_fingerprint() {
  const auto add = [&](uint64_t value) { fingerprint_ = split_mix(fingerprint_ ^ value); };
  for (const Corpus::File& file : corpus_->files()) {
    add(static_cast<uint64_t>(file.size));
    for (char c : fs::path(file.path).filename().string()) add(static_cast<uint8_t>(c));
  }
  if (options_.kind == DataKind::kBytes) return;
  add(static_cast<uint64_t>(type_));
  for (const auto& index : indexes_) add(static_cast<uint64_t>(index->num_bytes()));
}

uint64_t TokenFiles::content_fingerprint() const {
  std::vector<std::string> paths;
  for (const Corpus::File& file : corpus_->files()) paths.push_back(file.path);
  if (options_.kind == DataKind::kMegatron) {
    for (const Corpus::File& file : corpus_->files())
      paths.push_back(prefix_of(file.path) + ".idx");
  }
  return split_mix(fingerprint_ ^ sampled_hash_of(paths));
}

void TokenFiles::read(int64_t begin, std::span<int64_t> ids) const {
  const auto count = static_cast<int64_t>(ids.size());
  PHI_CHECK(begin >= 0 && count <= num_tokens() && begin <= num_tokens() - count,
            errors::OutOfRange("{} tokens from token {} on are requested from data of {} tokens.",
                               count, begin, num_tokens()));
  std::vector<uint8_t> bytes(static_cast<size_t>(count * size_of(type_)));
  corpus_->read(begin * size_of(type_), bytes);
  to_ids(type_, bytes, ids);
  check_ids(begin, ids);
}

void TokenFiles::check_ids(int64_t begin, std::span<const int64_t> ids) const {
  const int64_t limit = options_.vocab > 0 ? options_.vocab : INT64_MAX;
  const auto wrong =
      std::find_if(ids.begin(), ids.end(), [&](int64_t id) { return id < 0 || id >= limit; });
  if (wrong == ids.end()) return;
  throw errors::InvalidArgument(
      "{} is the id {}, which is outside a vocab of {}: ids are 0 to {}. Use a larger vocab, or "
      "correct the data (its ids were read as {}).",
      where(begin + (wrong - ids.begin())), *wrong, limit, limit - 1, name_of(type_));
}

std::string TokenFiles::where(int64_t token) const {
  const int64_t offset = token * size_of(type_);
  const Corpus::File& file = corpus_->file_at(offset);
  const int64_t in_file = offset - file.offset;
  return fmt::format("token {} of '{}' (byte offset {})", in_file / size_of(type_), file.path,
                     in_file);
}

std::shared_ptr<const WindowOffsets> TokenFiles::window_offsets(int64_t seq_len) const {
  PHI_CHECK(seq_len >= 1,
            errors::InvalidArgument("windows of {} tokens; seq_len must be 1 or more.", seq_len));
  const std::lock_guard lock(mutex_);
  auto& window_offsets = window_offsets_[seq_len];
  yield_point("token_files.places.unset");
  if (!window_offsets) {
    window_offsets = documents_ ? std::make_shared<const WindowOffsets>(documents_, seq_len)
                                : std::make_shared<const WindowOffsets>(num_tokens(), seq_len);
  }
  PHI_CHECK(window_offsets->count() > 0 || documents_,
            errors::InvalidArgument(
                "{} {} are too few for windows of seq_len {} + 1.", num_tokens(),
                options_.kind == DataKind::kBytes ? "bytes of text" : "tokens", seq_len));
  PHI_CHECK(window_offsets->count() > 0,
            errors::InvalidArgument(
                "none of {} documents is long enough for a window of seq_len {} + 1: the longest "
                "has {} tokens. Use a smaller seq_len, or documents: joined.",
                documents_->count(), seq_len, window_offsets->longest_document()));
  return window_offsets;
}

int64_t TokenFiles::num_documents() const {
  int64_t documents = options_.kind == DataKind::kBytes ? num_files() : 0;
  for (const auto& index : indexes_) documents += index->num_documents();
  return documents;
}

DataSummary TokenFiles::summary(int64_t seq_len) const {
  return {.kind = options_.kind,
          .type = type_,
          .documents = options_.documents,
          .num_files = num_files(),
          .num_bytes = num_bytes(),
          .num_tokens = num_tokens(),
          .num_documents = num_documents(),
          .documents_left_out = window_offsets(seq_len)->documents_left_out()};
}

TokenFiles::IdRange TokenFiles::id_range() const {
  int64_t smallest = INT64_MAX;
  int64_t largest = INT64_MIN;
  int64_t where_smallest = 0;
  int64_t where_largest = 0;
  const int64_t size = size_of(type_);
  std::vector<uint8_t> bytes;
  std::vector<int64_t> ids;
  for (const Corpus::File& file : corpus_->files()) {
    const auto mapped = MappedFile::open(file.path, MappedFile::AccessPattern::kReadAhead);
    for (int64_t at = 0; at < file.size; at += kScanned * size) {
      ids.resize(static_cast<size_t>(std::min(kScanned, (file.size - at) / size)));
      bytes.resize(ids.size() * static_cast<size_t>(size));
      mapped->read(static_cast<size_t>(at), std::as_writable_bytes(std::span(bytes)));
      to_ids(type_, bytes, ids);
      const auto [low, high] = std::minmax_element(ids.begin(), ids.end());
      const int64_t first = (file.offset + at) / size;
      if (*low < smallest) {
        smallest = *low;
        where_smallest = first + (low - ids.begin());
      }
      if (*high > largest) {
        largest = *high;
        where_largest = first + (high - ids.begin());
      }
    }
  }
  return {smallest, largest, where(where_smallest), where(where_largest)};
}

}  // namespace phi::data
