// WindowPlaces: where windows of one length may begin, numbered without gaps.
//
// A window is seq_len + 1 tokens: its ids, and the labels one further on. In joined data the place
// p begins at token p. In documents that are kept apart the places of a document follow those of
// the one before it: one of L tokens has max(0, L - seq_len).
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "api/data/documents.h"

namespace phi::data {

class WindowPlaces {
 public:
  /// Anywhere in a row of tokens.
  WindowPlaces(int64_t num_tokens, int64_t seq_len);
  /// Within a document each. Reads all ends once and keeps one number for 256 documents.
  WindowPlaces(std::shared_ptr<const DocumentEnds> documents, int64_t seq_len);

  int64_t count() const { return count_; }
  /// Too short for a window; 0 of joined data.
  int64_t documents_left_out() const { return left_out_; }
  /// Tokens of the longest document; all of joined data.
  int64_t longest_document() const { return longest_; }

  /// The token with which the window at `place` begins. place: less than count(). Errors:
  /// Unavailable if the files have changed.
  int64_t begin_of(int64_t place) const;

 private:
  int64_t places_of(int64_t tokens) const { return tokens > seq_len_ ? tokens - seq_len_ : 0; }
  // Ends of the documents of a block after the end of what is before it.
  std::vector<int64_t> bounds_of(int64_t block) const;

  std::shared_ptr<const DocumentEnds> documents_;  // null: joined
  int64_t seq_len_;
  int64_t count_ = 0;
  int64_t left_out_ = 0;
  int64_t longest_ = 0;
  std::vector<int64_t> first_places_;  // of each block of documents
};

}  // namespace phi::data
