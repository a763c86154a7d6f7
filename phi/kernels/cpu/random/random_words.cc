// Random words of a batch of Philox blocks.
#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/cpu/wide.h"

namespace phi {
namespace {

/// AVX-512 has registers enough for words in 64 bits.
PHI_HD void draw_wide(const uint64_t* blocks, PhiloxKey key, uint32_t use, uint32_t turn,
                      uint32_t* words) {
#pragma GCC ivdep
  for (int s = 0; s < kBatchBlocks; ++s) {
    const PhiloxWideBlock drawn = philox_wide({{blocks[s], blocks[s] >> 32, use, turn}}, key);
    for (int w = 0; w < 4; ++w) words[4 * s + w] = static_cast<uint32_t>(drawn.word[w]);
  }
}

void draw_base(const uint64_t* blocks, PhiloxKey key, uint32_t use, uint32_t turn,
               uint32_t* words) {
  uint32_t lanes[4][kBatchBlocks];
  for (int s = 0; s < kBatchBlocks; ++s) {
    lanes[0][s] = static_cast<uint32_t>(blocks[s]);
    lanes[1][s] = static_cast<uint32_t>(blocks[s] >> 32);
    lanes[2][s] = use;
    lanes[3][s] = turn;
  }
  philox_lanes(lanes, key);
  for (int s = 0; s < kBatchBlocks; ++s) {
    for (int w = 0; w < 4; ++w) words[4 * s + w] = lanes[w][s];
  }
}

}  // namespace

BatchWords::BatchWords(const BatchBlocks& blocks, uint64_t seed, RandomUse use, uint32_t turn) {
  const auto draw = [from = blocks.data(), key = philox_key(seed), use, turn, to = words.data()] {
    draw_wide(from, key, static_cast<uint32_t>(use), turn, to);
  };
  if (has_wide()) {
    detail::run_wide(draw);
  } else {
    draw_base(blocks.data(), philox_key(seed), static_cast<uint32_t>(use), turn, words.data());
  }
}

}  // namespace phi
