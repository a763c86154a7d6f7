// Random words of a batch of Philox blocks.
#ifdef __x86_64__
#include <immintrin.h>
#endif

#include <cstring>

#include "phi/kernels/cpu/random/random_stream.h"
#include "phi/kernels/cpu/wide.h"

namespace phi {
namespace {

/// The counters of a batch and their key.
struct Counters {
  const uint64_t* blocks;
  uint32_t use;
  uint32_t turn;
  PhiloxKey key;
};

#ifdef __AVX2__

// A word in each 64 bits of a register, whose upper half is anything: processors multiply the lower
// halves, which compilers do not see. In vectors of two sizes.
using Words256 [[gnu::vector_size(32)]] = uint64_t;
using Words512 [[gnu::vector_size(64)]] = uint64_t;

inline void multiply(const Words256& x, uint32_t factor, Words256* product) {
  *product = reinterpret_cast<Words256>(
      _mm256_mul_epu32(reinterpret_cast<__m256i>(x), _mm256_set1_epi64x(factor)));
}
PHI_WIDE_TARGET inline void multiply(const Words512& x, uint32_t factor, Words512* product) {
  // Of all lanes: g++ 12 takes _mm512_mul_epu32 for a use of an uninitialised value.
  *product = reinterpret_cast<Words512>(
      _mm512_maskz_mul_epu32(0xff, reinterpret_cast<__m512i>(x), _mm512_set1_epi64(factor)));
}

inline void interleave(const Words256& x, const Words256& y, Words256 (&both)[2]) {
  both[0] = __builtin_shufflevector(x, y, 0, 4, 1, 5);
  both[1] = __builtin_shufflevector(x, y, 2, 6, 3, 7);
}
inline void interleave(const Words512& x, const Words512& y, Words512 (&both)[2]) {
  both[0] = __builtin_shufflevector(x, y, 0, 8, 1, 9, 2, 10, 3, 11);
  both[1] = __builtin_shufflevector(x, y, 4, 12, 5, 13, 6, 14, 7, 15);
}

/// Four registers' counters at a time, for a product waits for that of the round before.
template <typename Words>
inline void draw(const Counters& counters, uint32_t* to) {
  constexpr int kTogether = 4;
  constexpr int kLanes = sizeof(Words) / sizeof(uint64_t);
  static_assert(kBatchBlocks % (kTogether * kLanes) == 0);
  for (int s = 0; s < kBatchBlocks; s += kTogether * kLanes) {
    Words c[kTogether][4];
    for (int i = 0; i < kTogether; ++i) {
      std::memcpy(&c[i][0], counters.blocks + s + i * kLanes, sizeof(Words));
      c[i][1] = c[i][0] >> 32;
      c[i][2] = Words{} + counters.use;
      c[i][3] = Words{} + counters.turn;
    }
    PhiloxKey key = counters.key;
    PHI_UNROLL(10)
    for (int round = 0; round < kPhiloxRounds; ++round) {
      PHI_UNROLL(4)
      for (int i = 0; i < kTogether; ++i) {
        Words products[2];
        multiply(c[i][0], kPhiloxFactors[0], &products[0]);
        multiply(c[i][2], kPhiloxFactors[1], &products[1]);
        c[i][0] = products[1] >> 32 ^ c[i][1] ^ key.word[0];
        c[i][1] = products[1];
        c[i][2] = products[0] >> 32 ^ c[i][3] ^ key.word[1];
        c[i][3] = products[0];
      }
      detail::philox_bump(key);
    }
    for (int i = 0; i < kTogether; ++i) {
      constexpr uint64_t kLow = 0xffffffffu;
      Words both[2];
      interleave((c[i][0] & kLow) | c[i][1] << 32, (c[i][2] & kLow) | c[i][3] << 32, both);
      std::memcpy(to + 4 * (s + i * kLanes), both, sizeof(both));
    }
  }
}

void draw_base(const Counters& counters, uint32_t* to) { draw<Words256>(counters, to); }
void draw_wide(const Counters& counters, uint32_t* to) {
  detail::run_wide([=] { draw<Words512>(counters, to); });
}

#else

void draw_base(const Counters& counters, uint32_t* to) {
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
void draw_wide(const Counters& counters, uint32_t* to) { draw_base(counters, to); }

#endif

}  // namespace

BatchWords::BatchWords(const BatchBlocks& blocks, uint64_t seed, RandomUse use, uint32_t turn) {
  const Counters counters = {blocks.data(), static_cast<uint32_t>(use), turn, philox_key(seed)};
  has_wide() ? draw_wide(counters, words.data()) : draw_base(counters, words.data());
}

}  // namespace phi
