// TokenData: batches of token windows, drawn at random from files.
//
//   const TokenData data = TokenData::open({.paths = {"phi", "README.md"}});
//   Tensor ids = shard_tensor(data.ids(spec), mesh, {Shard(0)});  // reads own rows only
//
// A window's position depends only on (seed, sample number), so every mesh sees the same batches
// without communication; docs/data.md has the formula. A file is memory-mapped when a window in it
// is first read: a rank without rows of a batch reads nothing, and ranks of a machine share the
// pages.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "api/data/token_files.h"
#include "api/tensor/deferred.h"
#include "api/tensor/tensor.h"

namespace phi::data {

/// Selects the windows of a batch.
struct BatchSpec {
  uint64_t seed = 0;
  int64_t first_sample = 0;  // number of the batch's first sample among all samples of the job
  int64_t batch = 1;
  int64_t seq_len = 1;
};

class TokenData {
 public:
  /// Calls TokenFiles::open.
  static TokenData open(const DataOptions& options);

  int64_t num_tokens() const { return files_->num_tokens(); }
  int64_t num_bytes() const { return files_->num_bytes(); }
  /// A hash that ranks compare; see TokenFiles.
  uint64_t fingerprint() const { return files_->fingerprint(); }
  /// See TokenFiles::content_fingerprint.
  uint64_t content_fingerprint() const { return files_->content_fingerprint(); }
  /// Errors: as TokenFiles::window_offsets.
  DataSummary summary(int64_t seq_len) const { return files_->summary(seq_len); }
  const TokenFiles& files() const { return *files_; }

  /// The first token of sample number `sample` of the batch, as an index into all tokens.
  /// Errors: as TokenFiles::window_offsets.
  int64_t first_token_of(const BatchSpec& spec, int64_t sample) const;

  /// int64 [batch, seq_len], deferred: each rank reads and checks only its shards. labels() returns
  /// the tokens that follow.
  /// Errors: as TokenFiles::window_offsets; when they are read, as TokenFiles::read.
  Tensor ids(const BatchSpec& spec) const { return windows(spec, 0, {spec.batch, spec.seq_len}); }
  /// int64 [batch, seq_len, 1], the shape that losses accept.
  Tensor labels(const BatchSpec& spec) const {
    return windows(spec, 1, {spec.batch, spec.seq_len, 1});
  }

 private:
  class WindowSource;
  explicit TokenData(std::shared_ptr<const TokenFiles> files) : files_(std::move(files)) {}
  Tensor windows(const BatchSpec& spec, int64_t shift, const Dims& shape) const;

  std::shared_ptr<const TokenFiles> files_;
};

}  // namespace phi::data
