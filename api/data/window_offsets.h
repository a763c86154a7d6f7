// WindowOffsets: the places where windows of one length may begin, numbered without gaps.
//
// A window has seq_len + 1 tokens: seq_len ids, and the labels, which are shifted by one. In joined
// data, place p begins at token p. With Documents::kApart, places are numbered document by
// document; a document of L tokens has max(0, L - seq_len) places.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/data/document_ends.h"

namespace phi::data {

class WindowOffsets {
 public:
  /// Windows may begin anywhere in `num_tokens` tokens.
  WindowOffsets(int64_t num_tokens, int64_t seq_len);
  /// Windows are within one document. Reads all ends once and stores one number per 256 documents.
  WindowOffsets(std::shared_ptr<const DocumentEnds> documents, int64_t seq_len);

  int64_t count() const { return count_; }
  /// Documents too short for a window; 0 for joined data.
  int64_t documents_left_out() const { return left_out_; }
  /// Tokens of the longest document; num_tokens for joined data.
  int64_t longest_document() const { return longest_; }

  /// The first token of the window at `window`, which must be less than count().
  /// Errors: Unavailable if the files have changed.
  int64_t first_token_of(int64_t window) const;

 private:
  int64_t windows_in(int64_t tokens) const { return tokens > seq_len_ ? tokens - seq_len_ : 0; }
  // Ends of a block's documents, preceded by the end of the document before the block.
  std::vector<int64_t> bounds_of(int64_t block) const;

  std::shared_ptr<const DocumentEnds> documents_;  // null: joined
  int64_t seq_len_;
  int64_t count_ = 0;
  int64_t left_out_ = 0;
  int64_t longest_ = 0;
  std::vector<int64_t> first_windows_;  // of each block of documents
};

}  // namespace phi::data
