// The random numbers of docs/architecture.md, "Random numbers": element by element, as it says.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace oracle {

/// Philox4x32-10 (Salmon et al. 2011).
std::array<uint32_t, 4> philox(std::array<uint32_t, 4> counter, std::array<uint32_t, 2> key);

/// Element `index` of a tensor of standard normal numbers.
double normal(uint64_t seed, uint64_t index);

/// Whether dropout with probability `p` drops element `index`.
bool drops(uint64_t seed, uint64_t index, double p);

/// One step of SplitMix64's sequence that begins at x (Steele, Lea, Flood 2014).
uint64_t split_mix(uint64_t x);

/// The seed of what a name stands for.
uint64_t hash(std::string_view name, uint64_t seed);

}  // namespace oracle
