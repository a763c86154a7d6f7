// Which weights attention drops: by their position in the global tensors and a seed alone, the same
// on every device and mesh.
#pragma once

#include <cstdint>

#include "phi/kernels/functors/philox.h"

namespace phi {

inline constexpr int kDropLanes = 8;
/// Keys of a row whose words are drawn together.
inline constexpr int64_t kDropBatch = int64_t{4} * kDropLanes;

constexpr int64_t drop_batches(int64_t keys) { return (keys + kDropBatch - 1) / kDropBatch; }

/// Batch i of row r, of [batch, heads, sq] rows, is r * drop_batches(keys) + i. Key kDropBatch * i
/// + 8 * w + s of a row takes word w of this block, so that the words of a batch can be drawn in
/// vector registers and used in their order. It is dropped if the word is less than
/// drop_threshold(probability).
PHI_HD PhiloxBlock drop_counter(uint64_t batch, int s, uint64_t offset) {
  const uint64_t block = kDropLanes * batch + static_cast<uint64_t>(s);
  return {{static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32),
           static_cast<uint32_t>(RandomUse::kAttention), static_cast<uint32_t>(offset)}};
}
/// Of several sequences each drops weights of its own: by the seed and this.
PHI_HD uint64_t sequence_seed_shift(uint64_t sequence) {
  constexpr uint64_t kOdd = 0x9E3779B97F4A7C15;
  return kOdd * sequence;
}
inline uint32_t drop_threshold(double probability) {
  return static_cast<uint32_t>(probability * 0x1p32);
}
/// What weights are multiplied by that are kept.
inline double kept_factor(double probability) { return 1.0 / (1.0 - probability); }

}  // namespace phi
