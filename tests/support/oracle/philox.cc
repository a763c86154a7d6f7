// Philox, SplitMix64 and FNV-1a from their papers and docs/architecture.md.
#include "support/oracle/philox.h"

#include <cmath>
#include <numbers>

namespace oracle {
namespace {

constexpr uint32_t kNormal = 1;
constexpr uint32_t kDropout = 3;

std::array<uint32_t, 4> block_of(uint64_t seed, uint64_t index, uint32_t use) {
  const uint64_t block = index / 4;
  return philox({static_cast<uint32_t>(block), static_cast<uint32_t>(block >> 32), use, 0},
                {static_cast<uint32_t>(seed), static_cast<uint32_t>(seed >> 32)});
}

// The sum is in float32, as documented: near 1 it matters where it is rounded.
double unit(uint32_t word) {
  const float steps = static_cast<float>(word / 2) + 0.5f;
  return std::ldexp(static_cast<double>(steps), -31);
}

}  // namespace

std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key) {
  for (int round = 0; round < 10; ++round) {
    const uint64_t a = uint64_t{0xD2511F53} * counter[0];
    const uint64_t b = uint64_t{0xCD9E8D57} * counter[2];
    counter = {static_cast<uint32_t>(b >> 32) ^ counter[1] ^ key[0], static_cast<uint32_t>(b),
               static_cast<uint32_t>(a >> 32) ^ counter[3] ^ key[1], static_cast<uint32_t>(a)};
    key[0] += 0x9E3779B9;
    key[1] += 0xBB67AE85;
  }
  return counter;
}

double normal(uint64_t seed, uint64_t index) {
  const auto words = block_of(seed, index, kNormal);
  const uint64_t pair = index % 4 / 2 * 2;
  const double radius = std::sqrt(-2.0 * std::log(unit(words[pair])));
  const double angle = 2.0 * std::numbers::pi * unit(words[pair + 1]);
  return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

bool drops(uint64_t seed, uint64_t index, double p) {
  const uint32_t word = block_of(seed, index, kDropout)[index % 4];
  return static_cast<double>(word) < std::floor(std::ldexp(p, 32));
}

uint64_t split_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15;
  x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9;
  x = (x ^ x >> 27) * 0x94d049bb133111eb;
  return x ^ x >> 31;
}

uint64_t hash(std::string_view name, uint64_t seed) {
  uint64_t value = 0xcbf29ce484222325 ^ seed * 0x9e3779b97f4a7c15;
  for (const char letter : name) {
    value ^= static_cast<unsigned char>(letter);
    value *= 0x100000001b3;
  }
  return value;
}

}  // namespace oracle
