// TextData: files read as bytes, and batches of windows drawn from them.
//
//   const TextData text = TextData::open({"phi", "README.md"}, "");
//   Tensor ids = shard_tensor(text.ids(draw), mesh, {Shard(0)});  // reads own rows only
//
// A window's place depends on (seed, number of the sample) alone, so every mesh sees the same
// batches and no rank needs to ask another. Files are memory-mapped when a window in them is first
// wanted: a rank that holds no rows of a batch touches none, and ranks of a machine share the
// pages.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "api/tensor/deferred.h"
#include "api/tensor/tensor.h"

namespace phi::job {

class Corpus;

/// Which windows a batch holds.
struct Draw {
  uint64_t seed = 0;
  int64_t first_sample = 0;  // number of the batch's first sample among all that the job draws
  int64_t batch = 1;
  int64_t seq_len = 1;
};

class TextData {
 public:
  /// The text files at `paths`, in order; a folder gives its files in order of their paths, without
  /// hidden ones, `build` and `__pycache__` folders, and files with a NUL among their first bytes.
  /// A relative path is looked for in the current folder, then in `base`.
  /// Errors: NotFound naming the path and both places; InvalidArgument if there is no byte at all.
  static TextData open(const std::vector<std::string>& paths, const std::string& base);

  int64_t num_bytes() const;
  size_t num_files() const;
  /// Differs where names or sizes of files differ; ranks compare it.
  uint64_t fingerprint() const;

  /// Bytes [offset, offset + out.size()), over file ends. Errors: OutOfRange; Unavailable if a file
  /// has become shorter.
  void read(int64_t offset, std::span<uint8_t> out) const;

  /// Where sample number `sample` begins: some offset with seq_len + 1 bytes behind it.
  int64_t offset_of(const Draw& draw, int64_t sample) const;

  /// int64 [batch, seq_len], deferred: each rank reads what it holds. labels: the bytes that
  /// follow. Errors: InvalidArgument if there are not seq_len + 1 bytes.
  Tensor ids(const Draw& draw) const { return windows(draw, 0, {draw.batch, draw.seq_len}); }
  /// int64 [batch, seq_len, 1], as losses take them.
  Tensor labels(const Draw& draw) const { return windows(draw, 1, {draw.batch, draw.seq_len, 1}); }

 private:
  class Windows;
  Tensor windows(const Draw& draw, int64_t shift, const Dims& shape) const;

  std::shared_ptr<const Corpus> corpus_;
};

}  // namespace phi::job
