// Placements of a model of three blocks, for the same model with another number of them.
#pragma once

#include <string>
#include <vector>

#include "api/planning/placing/place_layers.h"

namespace phi::planning {

/// `three` and `all`: paths of the blocks of both models; all are two or more. The first and the
/// last block have the placements of the first and the last of the three, those between them of the
/// second. Errors: InvalidArgument for other numbers of blocks.
PlacedLayers with_blocks(const PlacedLayers& placed, const std::vector<std::string>& three,
                         const std::vector<std::string>& all);

}  // namespace phi::planning
