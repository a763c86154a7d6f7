// KeyValueCache: keys and values of the positions that a model has processed, so that generation
// continues from them.
//
//   KeyValueCache cache(model, /*batch=*/1, /*capacity=*/model.seq_len());
//   Tensor logits = nn::next_logits(model, prompt, &cache);
//   logits = nn::next_logits(model, next_id, &cache);      // one position
#pragma once

#include <cstdint>
#include <unordered_map>

#include "api/nn/layers/attention.h"

namespace phi::nn {

/// The cached keys and values of every Attention module of a model.
class KeyValueCache {
 public:
  /// The cache of one Attention module, on the mesh and in the placements of its layout.
  struct Entry {
    Tensor keys;  // [B,capacity,kv heads,head size]; the first length() are valid
    Tensor values;
  };

  /// An empty cache with room for `batch` rows of `capacity` positions in each Attention module of
  /// `model`, which must outlive it.
  KeyValueCache(const Module& model, int64_t batch, int64_t capacity);

  int64_t capacity() const { return capacity_; }
  /// Number of cached positions.
  int64_t length() const { return length_; }
  /// Adds `count` positions, which a forward pass has written, to length().
  void advance(int64_t count) { length_ += count; }
  /// Removes all positions; keeps the memory.
  void clear() { length_ = 0; }

  // Used by modules during a forward pass.

  /// Starts a pass; `first` is the number of cached positions, i64[1], plain.
  void begin_forward(const Tensor& first);
  const Tensor& first() const { return first_; }
  /// first() for each row, i64[B], in the placements of batches on the module's mesh.
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

/// Runs the model on ids i64[B,S], which follow the cached positions, and adds them to the cache;
/// without a cache they are the first positions. Returns the model's output for the last position,
/// [B,1,..]. No gradients are tracked. Only the model's Attention modules may depend on other
/// positions.
/// Errors: InvalidArgument if the cache has no room.
Tensor next_logits(const Layer& model, const Tensor& ids, KeyValueCache* cache = nullptr);

/// The same, from operators alone, so that it can be captured. `first` (i64[1], plain) is the
/// number of cached positions. The caller calls cache->advance().
Tensor logits_after(const Layer& model, const Tensor& ids, const Tensor& first,
                    KeyValueCache* cache);

}  // namespace phi::nn
