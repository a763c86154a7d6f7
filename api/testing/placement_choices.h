// Enumerates the placements that a call's inputs may have.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/placement/placement.h"

namespace phi::testing {

/// One choice: the placements of each input, one per mesh dim.
using PlacementChoice = std::vector<std::vector<distributed::Placement>>;

/// Possible placements of x along a mesh dim: R, each S(d), and P(sum) if `partial` and x is
/// floating.
std::vector<distributed::Placement> placements_of(const Tensor& x, bool partial);

/// At most `most` choices, in an order drawn with `rng`. On a mesh of one dim with at most 100,000
/// choices they are distinct; otherwise they are drawn independently.
std::vector<PlacementChoice> placement_choices(const TensorList& inputs, int mesh_ndim,
                                               bool partial, size_t most, std::mt19937& rng);

/// "[R S0] [P(sum) R]"
std::string to_string(const PlacementChoice& choice);

}  // namespace phi::testing
