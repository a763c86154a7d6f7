// TokenFiles: the token ids of files as one sequence, for all kinds of files.
//
//   const auto files = TokenFiles::open({.kind = DataKind::kTokens, .paths = {"train.bin"}});
//   files->read(begin, ids);
//
// A file is memory-mapped when something in it is first read, and never loaded as a whole.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "api/data/corpus.h"
#include "api/data/data_options.h"
#include "api/data/data_summary.h"
#include "api/data/document_ends.h"
#include "api/data/window_offsets.h"

namespace phi::data {

class TokenFiles {
 public:
  /// Kind bytes: files and folders of text, as for Corpus::open. Kind tokens: files. Kind megatron:
  /// prefixes, or either file of a pair. Several are joined in the order given. Reads headers and
  /// sizes; with Documents::kApart also all of Megatron-LM's indexes.
  /// Errors: NotFound naming a path and where it was searched; InvalidArgument naming a file with
  /// invalid content, and for Documents::kApart with kind tokens, whose documents are unknown.
  static std::shared_ptr<const TokenFiles> open(const DataOptions& options);

  const DataOptions& options() const { return options_; }
  TokenType type() const { return type_; }
  int64_t num_tokens() const { return corpus_->num_bytes() / size_of(type_); }
  int64_t num_bytes() const { return corpus_->num_bytes(); }
  int64_t num_files() const { return static_cast<int64_t>(corpus_->files().size()); }
  /// For kind bytes, the number of files; 0: unknown.
  int64_t num_documents() const;
  /// A hash of the names and sizes of files and of how they are read; ranks compare it.
  uint64_t fingerprint() const { return fingerprint_; }
  /// fingerprint() combined with samples of the files' content (sampled_hash_of), which reads some
  /// pages of each.
  /// Errors: those of MappedFile.
  uint64_t content_fingerprint() const;

  /// Reads ids begin, begin + 1, ... Thread-safe.
  /// Errors: OutOfRange beyond num_tokens(); InvalidArgument naming file, position and value of an
  /// id that is not below options().vocab; Unavailable if a file has become shorter.
  void read(int64_t begin, std::span<int64_t> ids) const;

  /// The places where windows of seq_len + 1 tokens may begin; computed once for each seq_len.
  /// Errors: InvalidArgument if the data has no room for a window.
  std::shared_ptr<const WindowOffsets> window_offsets(int64_t seq_len) const;

  DataSummary summary(int64_t seq_len) const;

  struct IdRange {
    int64_t smallest = 0;
    int64_t largest = 0;
    std::string where_smallest{};  // "token 7 of 'train.bin' (byte offset 14)"
    std::string where_largest{};
  };
  /// The range of all ids; reads every file once, in order. Ignores options().vocab.
  IdRange id_range() const;

 private:
  TokenFiles() = default;
  void open_text();
  void open_flat();
  void open_megatron();
  void find_documents();
  void find_fingerprint();
  void check_ids(int64_t begin, std::span<const int64_t> ids) const;
  std::string where(int64_t token) const;

  DataOptions options_;
  TokenType type_ = TokenType::kUint8;
  std::shared_ptr<const Corpus> corpus_;
  std::vector<std::shared_ptr<const MegatronIndex>> indexes_;
  std::shared_ptr<const DocumentEnds> documents_;  // null: joined
  uint64_t fingerprint_ = 0;
  mutable std::mutex mutex_;  // guards what follows
  mutable std::map<int64_t, std::shared_ptr<const WindowOffsets>> window_offsets_;
};

}  // namespace phi::data
