// Which attention weights are dropped. The choice depends only on the position in the global
// tensors and the seed, so it is the same on every device and mesh.
#pragma once

#include <cstdint>

#include "phi/kernels/functors/philox.h"

namespace phi {

inline constexpr int kDropLanes = 8;
/// The number of keys of a row whose random words are drawn together.
inline constexpr int64_t kDropBatch = int64_t{4} * kDropLanes;

constexpr int64_t drop_batches(int64_t keys) { return (keys + kDropBatch - 1) / kDropBatch; }

/// The Philox counter of block `s` of a batch. Batch i of row r, of [batch, heads, sq] rows, is
/// r * drop_batches(keys) + i. Key kDropBatch * i + 8 * w + s of a row uses word w of this block,
/// so that the words of a batch can be drawn in vector registers and used in order. The key is
/// dropped if its word is less than drop_threshold(probability).
PHI_HD PhiloxBlock drop_counter(uint64_t batch, int s, uint64_t offset) {
  const uint64_t block = kDropLanes * batch + static_cast<uint64_t>(s);
  return {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
           static_cast<uint32_t>(RandomUse::kAttention), static_cast<uint32_t>(offset)}};
}
/// Added to the seed, so that each of several packed sequences drops different weights.
PHI_HD uint64_t sequence_seed_shift(uint64_t sequence) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return kOdd * sequence;
}
inline uint32_t drop_threshold(double probability) {
  return static_cast<uint32_t>(probability * 0x1p32);
}
/// The factor of weights that are kept.
inline double kept_factor(double probability) { return 1.0 / (1.0 - probability); }

}  // namespace phi
