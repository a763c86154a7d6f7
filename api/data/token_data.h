// TokenData: batches of windows drawn from token ids in files.
//
//   const TokenData data = TokenData::open({.paths = {"phi", "README.md"}});
//   Tensor ids = shard_tensor(data.ids(draw), mesh, {Shard(0)});  // reads own rows only
//
// A window's place depends on (seed, number of the sample) alone, so every mesh sees the same
// batches and no rank needs to ask another; docs/data.md says how it is drawn. Files are
// memory-mapped when a window in them is first wanted: a rank that holds no rows of a batch touches
// none, and ranks of a machine share the pages.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>

#include "api/data/token_files.h"
#include "api/tensor/deferred.h"
#include "api/tensor/tensor.h"

namespace phi::data {

/// Which windows a batch holds.
struct Draw {
  uint64_t seed = 0;
  int64_t first_sample = 0;  // number of the batch's first sample among all that the job draws
  int64_t batch = 1;
  int64_t seq_len = 1;
};

class TokenData {
 public:
  /// As TokenFiles::open.
  static TokenData open(const Options& options);

  int64_t num_tokens() const { return files_->num_tokens(); }
  int64_t num_bytes() const { return files_->num_bytes(); }
  /// Ranks compare it.
  uint64_t fingerprint() const { return files_->fingerprint(); }
  /// As TokenFiles::content_fingerprint.
  uint64_t content_fingerprint() const { return files_->content_fingerprint(); }
  /// Errors: as TokenFiles::places.
  Summary summary(int64_t seq_len) const { return files_->summary(seq_len); }
  const TokenFiles& files() const { return *files_; }

  /// The token with which sample number `sample` of the batch begins; it lies in the row of all
  /// tokens. Errors: as TokenFiles::places.
  int64_t begin_of(const Draw& draw, int64_t sample) const;

  /// int64 [batch, seq_len], deferred: each rank reads what it holds, and checks it. labels: the
  /// tokens that follow. Errors: as TokenFiles::places; when they are read, as TokenFiles::read.
  Tensor ids(const Draw& draw) const { return windows(draw, 0, {draw.batch, draw.seq_len}); }
  /// int64 [batch, seq_len, 1], as losses take them.
  Tensor labels(const Draw& draw) const { return windows(draw, 1, {draw.batch, draw.seq_len, 1}); }

 private:
  class Windows;
  explicit TokenData(std::shared_ptr<const TokenFiles> files) : files_(std::move(files)) {}
  Tensor windows(const Draw& draw, int64_t shift, const Dims& shape) const;

  std::shared_ptr<const TokenFiles> files_;
};

}  // namespace phi::data
