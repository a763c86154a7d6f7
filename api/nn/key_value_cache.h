// KeyValueCache: keys and values of the positions that a model has read, so that it reads on from
// there.
//
//   KeyValueCache cache(model, /*batch=*/1, /*capacity=*/model.seq_len());
//   Tensor logits = nn::next_logits(model, prompt, &cache);
//   logits = nn::next_logits(model, next_id, &cache);      // one position
#pragma once

#include <cstdint>
#include <unordered_map>

#include "api/nn/layers/attention.h"

namespace phi::nn {

class KeyValueCache {
 public:
  /// Of one Attention module, where and as its layout says.
  struct Entry {
    Tensor keys;  // [B,capacity,heads of keys,head size], of which the first length() count
    Tensor values;
  };

  /// Holds nothing yet; has room for `batch` rows of `capacity` positions in each Attention of the
  /// model, which must outlive it.
  KeyValueCache(const Module& model, int64_t batch, int64_t capacity);

  int64_t capacity() const { return capacity_; }
  /// Positions held.
  int64_t length() const { return length_; }
  /// Holds `count` more, which a pass has written.
  void advance(int64_t count) { length_ += count; }
  /// Holds none from here on, in the same bytes.
  void clear() { length_ = 0; }

  // For the modules in a pass.

  /// The positions before this pass, i64[1], plain.
  void begin_pass(const Tensor& first);
  const Tensor& first() const { return first_; }
  /// The same for each row, i64[B], laid out as batches are on the module's mesh.
  const Tensor& lengths(const Module& module);
  Entry& entry(const Attention& attention) { return entries_.at(&attention); }

 private:
  int64_t batch_;
  int64_t capacity_;
  int64_t length_ = 0;
  std::unordered_map<const Attention*, Entry> entries_;
  Tensor first_;
  std::unordered_map<const void*, Tensor> lengths_;  // by mesh, of this pass
};

/// Reads ids i64[B,S], which follow what the cache holds, and adds them to it; without a cache they
/// are the beginning. Gives the model's output [B,1,..] for the last one. Nothing is tracked for a
/// backward pass. What of a model looks at other positions than its own must be Attention modules.
/// Errors: InvalidArgument if the cache has no room for so many.
Tensor next_logits(const Layer& model, const Tensor& ids, KeyValueCache* cache = nullptr);

/// The same in operators alone, so that it can be captured: the cache holds first i64[1], plain,
/// positions, and it is the caller who advances it.
Tensor logits_behind(const Layer& model, const Tensor& ids, const Tensor& first,
                     KeyValueCache* cache);

}  // namespace phi::nn
