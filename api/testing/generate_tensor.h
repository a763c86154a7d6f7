// Tensors from text in tables of calls: "f32[5,4] uniform(-0.9,0.9)".
//
// The text is dtype[shape], then the distribution: `normal` (the default of floats),
// `integers(a,b)` (the default of integers is integers(-5,5)), `below(n)`, `uniform(a,b)`,
// `positive` (a square plus 0.5), `permutation` (of 0 .. n - 1 along the last dim), `distinct`
// (evenly spaced, in random order), `values(1,2,..)`, `one_of(nan,-inf,1,1)` (each element is one
// of these), `spd` and `well_conditioned` (matrices), `true`, `false`.
#pragma once

#include <cstdint>
#include <string>

#include "api/tensor/tensor.h"

namespace phi::testing {

/// Returns the same tensor for the same text and seed. Errors: InvalidArgument for invalid text.
Tensor generate_tensor(const std::string& text, uint32_t seed);

}  // namespace phi::testing
