// Placements that a search finds, as rows for a model of any number of blocks.
#pragma once

#include <string>

#include "api/nn/layout/layout.h"
#include "api/planning/placing/explain_layers.h"

namespace phi::planning {

/// Rows for the parameters and activations that `explained.best` places otherwise than the model
/// declares. Blocks are named `block` and a number; rows of "block*" have the placements of the
/// middle one. Pins have no rows.
nn::Layout searched_rows(const ExplainedLayers& explained, const std::string& block);

}  // namespace phi::planning
