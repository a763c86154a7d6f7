// Philox4x32-10 in StableHLO, with the numbers that kernels draw. Each element computes the block
// of four words that contains its own from its global index, so shardings need no communication.
#pragma once

#include <array>

#include "api/stablehlo/builder.h"
#include "phi/kernels/functors/philox.h"

namespace phi::stablehlo {

/// The key of a seed (an integer of one element): two 0-D ui32.
std::array<Ssa, 2> philox_key(Builder& b, const Ssa& seed);

/// The four words (ui32) of `block` (ui64) for this use. `last` is the counter's last word, a 0-D
/// ui32. All results have the shape of `block`.
std::array<Ssa, 4> philox_words(Builder& b, const Ssa& block, RandomUse use, const Ssa& last,
                                const std::array<Ssa, 2>& key);

/// words[which] for each element, with `which` (ui64) in 0 ... 3.
Ssa pick_word(Builder& b, const std::array<Ssa, 4>& words, const Ssa& which);

/// The row-major index (ui64) of every element of a tensor of `dims`.
Ssa element_index(Builder& b, const Dims& dims);

}  // namespace phi::stablehlo
