// TokenFiles: token ids in files as one row, whatever kind of files they are.
//
//   const auto files = TokenFiles::open({.kind = Kind::kTokens, .paths = {"train.bin"}});
//   files->read(begin, ids);
//
// Files are memory-mapped when something in them is first wanted, and never read whole.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "api/data/corpus.h"
#include "api/data/documents.h"
#include "api/data/options.h"
#include "api/data/summary.h"
#include "api/data/window_places.h"

namespace phi::data {

class TokenFiles {
 public:
  /// Kind bytes: files and folders of text, as Corpus::open takes them. Kind tokens: files.
  /// Kind megatron: prefixes, or either file of a pair. Several are joined in the order given.
  /// Reads headers and sizes; where documents are kept apart also all of Megatron-LM's indexes.
  /// Errors: NotFound naming a path and where it was looked for; InvalidArgument naming a file that
  /// is not what it should be, and for documents of kind tokens, which nothing tells apart.
  static std::shared_ptr<const TokenFiles> open(const Options& options);

  const Options& options() const { return options_; }
  TokenType type() const { return type_; }
  int64_t num_tokens() const { return corpus_->num_bytes() / size_of(type_); }
  int64_t num_bytes() const { return corpus_->num_bytes(); }
  int64_t num_files() const { return static_cast<int64_t>(corpus_->files().size()); }
  /// Of kind bytes as many as files; 0: the files do not say.
  int64_t num_documents() const;
  /// Differs where names or sizes of files differ, or how they are read; ranks compare it.
  uint64_t fingerprint() const { return fingerprint_; }
  /// The same, and what is in the files, as far as sampled_hash_of sees it: reads some pages of
  /// each. Errors: those of MappedFile.
  uint64_t content_fingerprint() const;

  /// Ids begin, begin + 1, ... of the row; all threads may ask. Errors: OutOfRange beyond the row;
  /// InvalidArgument naming file, place and number of an id that options().vocab has not;
  /// Unavailable if a file has become shorter.
  void read(int64_t begin, std::span<int64_t> ids) const;

  /// Where windows of seq_len + 1 tokens may begin; found once for each seq_len. Errors:
  /// InvalidArgument if there is no room for any.
  std::shared_ptr<const WindowPlaces> places(int64_t seq_len) const;

  Summary summary(int64_t seq_len) const;

  struct IdRange {
    int64_t smallest = 0;
    int64_t largest = 0;
    std::string where_smallest{};  // "token 7 of 'train.bin' (byte offset 14)"
    std::string where_largest{};
  };
  /// Of all ids; reads every file once, from its begin to its end. options().vocab is not asked.
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

  Options options_;
  TokenType type_ = TokenType::kUint8;
  std::shared_ptr<const Corpus> corpus_;
  std::vector<std::shared_ptr<const MegatronIndex>> indexes_;
  std::shared_ptr<const DocumentEnds> documents_;  // null: joined
  uint64_t fingerprint_ = 0;
  mutable std::mutex mutex_;  // of what follows
  mutable std::map<int64_t, std::shared_ptr<const WindowPlaces>> places_;
};

}  // namespace phi::data
