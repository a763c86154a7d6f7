// SplitMix64: a hash for reproducible random choices (specified in docs/data.md).
#pragma once

#include <cstdint>

namespace phi {

/// Step and finalizer of SplitMix64 (Steele, Lea, Flood 2014): a bijection with good avalanche.
constexpr uint64_t split_mix(uint64_t x) {
  x += 0x9e3779b97f4a7c15u;
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return x ^ (x >> 31);
}

}  // namespace phi
