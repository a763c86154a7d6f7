// The seeds that a generator (phi/core/generator.h) draws.
#pragma once

#include <cstdint>

#include "phi/kernels/functors/philox.h"

namespace phi {

/// Draw number `number` under `seed`: one Philox word, as a 32-bit attribute.
inline int32_t drawn_seed(uint64_t seed, uint64_t number) {
  const PhiloxBlock block = philox(philox_counter(number, RandomUse::kSeeds), philox_key(seed));
  return static_cast<int32_t>(block.word[0]);
}

}  // namespace phi
