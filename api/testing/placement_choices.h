// The placements that a call's inputs may have, to be tried one after the other.
#pragma once

#include <random>
#include <string>
#include <vector>

#include "api/tensor/tensor.h"
#include "distributed/placement/placement.h"

namespace phi::testing {

/// One choice: for each input its placements, one per mesh dim.
using PlacementChoice = std::vector<std::vector<distributed::Placement>>;

/// What one mesh dim can do to x: R, each S(d), and, where asked for, P(sum) for floating x.
std::vector<distributed::Placement> placements_of(const Tensor& x, bool partial);

/// All choices on a mesh of one dim, in an order drawn by `rng` and `most` of them at the most; on
/// more dims, and where there are more than 100,000, `most` of them, drawn.
std::vector<PlacementChoice> placement_choices(const TensorList& inputs, int mesh_ndim,
                                               bool partial, size_t most, std::mt19937& rng);

/// "[R S0] [P(sum) R]"
std::string to_string(const PlacementChoice& choice);

}  // namespace phi::testing
