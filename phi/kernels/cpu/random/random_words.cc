// Computes the random words of a batch of Philox blocks.
#if defined(__AVX2__) && !defined(__clang__)  // clang has no target option for wide vectors
#define PHI_HAS_LANES_
#include <immintrin.h>
#endif

#include "phi/kernels/cpu/loop_isa.h"
#include "phi/kernels/cpu/random/random_stream.h"

namespace phi {
namespace {

/// The counters of a batch, and their key.
struct PhiloxCounters {
  const uint64_t* blocks;
  uint32_t use;
  uint32_t turn;
  PhiloxKey key;
};

#ifdef PHI_HAS_LANES_

// PhiloxCounters side by side, one word in each 64 bits of a register; the upper halves are
// undefined, because the multiplications read lower halves only. Code on these registers is in
// functions with the target's instructions: in others g++ splits the vectors.

struct Lanes256 {
  using LaneWords [[gnu::vector_size(32)]] = uint64_t;
  using Loose [[gnu::vector_size(32), gnu::aligned(4), gnu::may_alias]] = uint64_t;
  LaneWords c[4];

  void begin(const uint64_t* blocks, uint32_t use, uint32_t turn) {
    c[0] = *reinterpret_cast<const Loose*>(blocks);
    c[1] = c[0] >> 32;
    c[2] = LaneWords{} + use;
    c[3] = LaneWords{} + turn;
  }
  static LaneWords product(LaneWords x, uint32_t factor) {
    return reinterpret_cast<LaneWords>(
        _mm256_mul_epu32(reinterpret_cast<__m256i>(x), _mm256_set1_epi64x(factor)));
  }
  void do_round(PhiloxKey key) {
    const LaneWords product0 = product(c[0], kPhiloxFactors[0]);
    const LaneWords product1 = product(c[2], kPhiloxFactors[1]);
    c[0] = product1 >> 32 ^ c[1] ^ key.word[0];
    c[1] = product1;
    c[2] = product0 >> 32 ^ c[3] ^ key.word[1];
    c[3] = product0;
  }
  void store(uint32_t* to) const {
    const LaneWords first = (c[0] & 0xffffffffu) | c[1] << 32;
    const LaneWords second = (c[2] & 0xffffffffu) | c[3] << 32;
    auto* out = reinterpret_cast<Loose*>(to);
    out[0] = __builtin_shufflevector(first, second, 0, 4, 1, 5);
    out[1] = __builtin_shufflevector(first, second, 2, 6, 3, 7);
  }
};

struct Lanes512 {
  using LaneWords [[gnu::vector_size(64)]] = uint64_t;
  using Loose [[gnu::vector_size(64), gnu::aligned(4), gnu::may_alias]] = uint64_t;
  LaneWords c[4];

  PHI_AVX512_TARGET void begin(const uint64_t* blocks, uint32_t use, uint32_t turn) {
    c[0] = *reinterpret_cast<const Loose*>(blocks);
    c[1] = c[0] >> 32;
    c[2] = LaneWords{} + use;
    c[3] = LaneWords{} + turn;
  }
  // Masked, with all lanes set: g++ 12 reports _mm512_mul_epu32 as a use of an uninitialised value.
  PHI_AVX512_TARGET static LaneWords product(LaneWords x, uint32_t factor) {
    return reinterpret_cast<LaneWords>(
        _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(x), _mm512_set1_epi64(factor)));
  }
  PHI_AVX512_TARGET void do_round(PhiloxKey key) {
    const LaneWords product0 = product(c[0], kPhiloxFactors[0]);
    const LaneWords product1 = product(c[2], kPhiloxFactors[1]);
    c[0] = product1 >> 32 ^ c[1] ^ key.word[0];
    c[1] = product1;
    c[2] = product0 >> 32 ^ c[3] ^ key.word[1];
    c[3] = product0;
  }
  PHI_AVX512_TARGET void store(uint32_t* to) const {
    const LaneWords first = (c[0] & 0xffffffffu) | c[1] << 32;
    const LaneWords second = (c[2] & 0xffffffffu) | c[3] << 32;
    auto* out = reinterpret_cast<Loose*>(to);
    out[0] = __builtin_shufflevector(first, second, 0, 8, 1, 9, 2, 10, 3, 11);
    out[1] = __builtin_shufflevector(first, second, 4, 12, 5, 13, 6, 14, 7, 15);
  }
};

/// Draws kTogether registers in turns, because each multiplication waits for that of the previous
/// round.
template <typename Lanes, int kTogether>
inline void draw(const PhiloxCounters& counters, uint32_t* to) {
  constexpr int kLanes = sizeof(typename Lanes::LaneWords) / sizeof(uint64_t);
  static_assert(kBatchBlocks % (kTogether * kLanes) == 0);
  for (int s = 0; s < kBatchBlocks; s += kTogether * kLanes) {
    Lanes lanes[kTogether];
    for (int i = 0; i < kTogether; ++i)
      lanes[i].begin(counters.blocks + s + i * kLanes, counters.use, counters.turn);
    PhiloxKey key = counters.key;
    PHI_UNROLL(10)
    for (int round = 0; round < kPhiloxRounds; ++round) {
      PHI_UNROLL(4)
      for (int i = 0; i < kTogether; ++i) lanes[i].do_round(key);
      detail::philox_bump(key);
    }
    for (int i = 0; i < kTogether; ++i) lanes[i].store(to + 4 * (s + i * kLanes));
  }
}

void draw_base(const PhiloxCounters& counters, uint32_t* to) { draw<Lanes256, 2>(counters, to); }
void draw_wide(const PhiloxCounters& counters, uint32_t* to) {
  detail::run_avx512([from = &counters, to] { draw<Lanes512, 4>(*from, to); });
}

#else

void draw_base(const PhiloxCounters& counters, uint32_t* to) {
  uint32_t words[4][kBatchBlocks];
  for (int s = 0; s < kBatchBlocks; ++s) {
    words[0][s] = static_cast<uint32_t>(counters.blocks[s]);
    words[1][s] = static_cast<uint32_t>(counters.blocks[s] >> 32);
    words[2][s] = counters.use;
    words[3][s] = counters.turn;
  }
  philox_lanes(words, counters.key);
  for (int s = 0; s < kBatchBlocks; ++s) {
    for (int w = 0; w < 4; ++w) to[4 * s + w] = words[w][s];
  }
}
void draw_wide(const PhiloxCounters& counters, uint32_t* to) { draw_base(counters, to); }

#endif

}  // namespace

BatchWords::BatchWords(const BatchBlocks& blocks, uint64_t seed, RandomUse use, uint32_t turn) {
  const PhiloxCounters counters = {blocks.data(), static_cast<uint32_t>(use), turn,
                                   philox_key(seed)};
  has_avx512() ? draw_wide(counters, words.data()) : draw_base(counters, words.data());
}

}  // namespace phi
