// KeyValueCache: keys and values of the positions that a Decoder has read, so that it reads on from
// there.
#pragma once

#include <cstdint>
#include <vector>

#include "api/tensor/tensor.h"

namespace phi::job {

/// Each layer's are on the layer's stage, split along dp by rows and along tp by heads.
class KeyValueCache {
 public:
  struct Layer {
    Tensor
        keys;  // [B,seq_len,heads of keys,head size], of which the first length() positions count
    Tensor values;
  };

  /// Positions held.
  int64_t length() const { return length_; }
  /// Holds `count` more, which a pass has written.
  void advance(int64_t count) { length_ += count; }
  /// Holds none from here on, in the same bytes.
  void clear() { length_ = 0; }

 private:
  friend class Decoder;
  std::vector<Layer> layers_;
  int64_t length_ = 0;
};

/// What attention of one layer has to know of the positions before, and adds to.
struct Past {
  KeyValueCache::Layer& cache;
  const Tensor& lengths;  // i64[B]: positions held
};

}  // namespace phi::job
