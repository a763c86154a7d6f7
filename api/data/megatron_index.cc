// Every count in the file is checked against the file's size before it is used.
#include "api/data/megatron_index.h"

#include <algorithm>
#include <cstring>
#include <optional>
#include <string_view>
#include <vector>

#include "phi/common/errors.h"

namespace phi::data {
namespace {

using std::string_view_literals::operator""sv;

constexpr std::string_view kMagic = "MMIDIDX\0\0"sv;
constexpr int64_t kVersionAt = 9;
constexpr int64_t kTypeAt = 17;
constexpr int64_t kSequencesAt = 18;
constexpr int64_t kDocumentsAt = 26;
constexpr int64_t kHeaderBytes = 34;
constexpr int64_t kChunk = 8192;  // entries per read

std::optional<TokenType> type_of(uint8_t code) {
  switch (code) {
    case 1:
      return TokenType::kUint8;
    case 2:
      return TokenType::kInt8;
    case 3:
      return TokenType::kInt16;
    case 4:
      return TokenType::kInt32;
    case 5:
      return TokenType::kInt64;
    case 8:
      return TokenType::kUint16;
    default:
      return std::nullopt;
  }
}

}  // namespace

std::shared_ptr<const MegatronIndex> MegatronIndex::open(const std::string& path,
                                                         int64_t bin_bytes) {
  std::shared_ptr<MegatronIndex> index(new MegatronIndex);
  index->file_ = MappedFile::open(path, MappedFile::AccessPattern::kReadAhead);
  index->bin_bytes_ = bin_bytes;
  index->read_header();
  index->lay_out_arrays();
  index->check_ends();
  return index;
}

template <typename T>
T MegatronIndex::value(int64_t at) const {
  T out;
  read(at, std::span(&out, 1));
  return out;
}

template <typename T>
void MegatronIndex::read(int64_t at, std::span<T> out) const {
  file_->read(static_cast<size_t>(at), std::as_writable_bytes(out));
}

void MegatronIndex::read_header() {
  PHI_CHECK(
      num_bytes() >= kHeaderBytes,
      errors::InvalidArgument(
          "'{}' is not an index of Megatron-LM: it has {} bytes, and the header alone has {}.",
          file_->path(), num_bytes(), kHeaderBytes));
  std::string magic(kMagic.size(), ' ');
  read(0, std::span(magic));
  PHI_CHECK(
      magic == kMagic,
      errors::InvalidArgument(
          "'{}' is not an index of Megatron-LM: it does not begin with MMIDIDX; pass the prefix of "
          "a .bin and .idx that its preprocessing wrote for memory-mapped reading (mmap).",
          file_->path()));
  const auto version = value<uint64_t>(kVersionAt);
  PHI_CHECK(version == 1, errors::InvalidArgument(
                              "'{}' is of version {} of the format; only version 1 is supported.",
                              file_->path(), version));
  const auto code = value<uint8_t>(kTypeAt);
  const std::optional<TokenType> type = type_of(code);
  PHI_CHECK(type, errors::InvalidArgument(
                      "'{}' has dtype code {}{}; ids are of codes 1 (uint8), 2 (int8), 3 (int16), "
                      "4 (int32), 5 (int64) or 8 (uint16).",
                      file_->path(), code, code == 6 || code == 7 ? ", a float" : ""));
  type_ = *type;
}

void MegatronIndex::lay_out_arrays() {
  const auto sequences = value<uint64_t>(kSequencesAt);
  const auto entries = value<uint64_t>(kDocumentsAt);
  const auto rest = static_cast<uint64_t>(num_bytes() - kHeaderBytes);
  // Compare before multiplying: products of counts that exceed the file may overflow.
  const bool has_room = sequences <= rest / 12 && entries <= (rest - 12 * sequences) / 8;
  const uint64_t left = has_room ? rest - 12 * sequences - 8 * entries : 0;
  PHI_CHECK(
      has_room && (left == 0 || left == sequences),
      errors::InvalidArgument("'{}' has {} bytes, which do not match its counts of {} sequences "
                              "and {} ends of documents; it is truncated or damaged.",
                              file_->path(), num_bytes(), sequences, entries));
  PHI_CHECK(sequences > 0 && entries > 1,
            errors::InvalidArgument("'{}' has no {}, so there is nothing to train on.",
                                    file_->path(), sequences == 0 ? "sequences" : "documents"));
  PHI_CHECK(left == 0,
            errors::InvalidArgument(
                "'{}' has modes of sequences: multimodal data is not supported, only text.",
                file_->path()));
  num_sequences_ = static_cast<int64_t>(sequences);
  num_documents_ = static_cast<int64_t>(entries) - 1;
  lengths_ = kHeaderBytes;
  pointers_ = lengths_ + 4 * num_sequences_;
  documents_ = pointers_ + 8 * num_sequences_;
}

void MegatronIndex::check_ends() const {
  const auto first_pointer = value<int64_t>(pointers_);
  const auto last_pointer = value<int64_t>(documents_ - 8);
  const auto last_length = value<int32_t>(pointers_ - 4);
  const int64_t last_bytes = last_length * size_of(type_);
  const bool fits = first_pointer == 0 && last_length >= 0 && last_pointer >= 0 &&
                    last_pointer <= bin_bytes_ && bin_bytes_ - last_pointer == last_bytes &&
                    bin_bytes_ % size_of(type_) == 0;
  PHI_CHECK(fits, errors::InvalidArgument(
                      "'{}' does not match its .bin, which has {} bytes: its first sequence begins "
                      "at byte {}, and its last one is {} tokens of {} from byte {} on. It is the "
                      "index of another data set, or the .bin is truncated.",
                      file_->path(), bin_bytes_, first_pointer, last_length, name_of(type_),
                      last_pointer));
  const auto first = value<int64_t>(documents_);
  const auto last = value<int64_t>(documents_ + 8 * num_documents_);
  PHI_CHECK(first == 0 && last == num_sequences_,
            errors::InvalidArgument("'{}' has documents of sequences {} to {}, but sequences 0 to "
                                    "{}; it is damaged.",
                                    file_->path(), first, last, num_sequences_));
}

void MegatronIndex::check_entries() const {
  check_sequences();
  check_documents();
}

void MegatronIndex::check_sequences() const {
  std::vector<int32_t> lengths;
  std::vector<int64_t> pointers;
  int64_t expected = 0;
  for (int64_t begin = 0; begin < num_sequences_; begin += kChunk) {
    const auto count = static_cast<size_t>(std::min(kChunk, num_sequences_ - begin));
    lengths.resize(count);
    pointers.resize(count);
    read(lengths_ + 4 * begin, std::span(lengths));
    read(pointers_ + 8 * begin, std::span(pointers));
    for (size_t i = 0; i < count; ++i) {
      PHI_CHECK(
          pointers[i] == expected && lengths[i] >= 0 && expected <= bin_bytes_,
          errors::InvalidArgument("'{}' is damaged: sequence {} has {} tokens from byte {} of the "
                                  ".bin on, but the previous sequences end at byte {}.",
                                  file_->path(), begin + static_cast<int64_t>(i), lengths[i],
                                  pointers[i], expected));
      expected += lengths[i] * size_of(type_);
    }
  }
}

void MegatronIndex::check_documents() const {
  std::vector<int64_t> sequences;
  int64_t before = 0;
  for (int64_t begin = 0; begin <= num_documents_; begin += kChunk) {
    sequences.resize(static_cast<size_t>(std::min(kChunk, num_documents_ + 1 - begin)));
    read(documents_ + 8 * begin, std::span(sequences));
    for (size_t i = 0; i < sequences.size(); ++i) {
      PHI_CHECK(sequences[i] >= before && sequences[i] <= num_sequences_,
                errors::InvalidArgument("'{}' is damaged: document {} ends before sequence {}, but "
                                        "begins at sequence {}, of {}.",
                                        file_->path(), begin + static_cast<int64_t>(i) - 1,
                                        sequences[i], before, num_sequences_));
      before = sequences[i];
    }
  }
}

void MegatronIndex::document_ends(int64_t first, std::span<int64_t> ends) const {
  read(documents_ + 8 * (first + 1), ends);
  for (const int64_t sequence : ends) {
    PHI_CHECK(sequence >= 0 && sequence <= num_sequences_,
              errors::Unavailable("'{}' has changed since it was opened.", file_->path()));
  }
  // A document ends where the next one's first sequence begins; the last one ends with the .bin.
  file_->access(static_cast<size_t>(pointers_), static_cast<size_t>(documents_),
                [&](const std::byte* bytes) {
                  for (int64_t& end : ends) {
                    const int64_t sequence = end;
                    end = bin_bytes_;
                    if (sequence == num_sequences_) continue;
                    std::memcpy(&end, bytes + pointers_ + 8 * sequence, sizeof(end));
                  }
                });
  for (int64_t& end : ends) {
    PHI_CHECK(end >= 0 && end <= bin_bytes_,
              errors::Unavailable("'{}' has changed since it was opened.", file_->path()));
    end /= size_of(type_);
  }
}

}  // namespace phi::data
