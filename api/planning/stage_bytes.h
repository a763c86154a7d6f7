// The bytes of a rank of a pipeline stage at its peak, from the costs of its layers.
#pragma once

#include <cstdint>
#include <vector>

#include "api/planning/part_costs.h"

namespace phi::planning {

/// The layers of each chunk together, in the order of the model, as the layout cuts them.
std::vector<LayerCost> chunks_of(const distributed::JobLayout& layout, const PartCosts& costs);

/// Micro-batches that a stage with one chunk holds at its peak.
struct HeldMicroBatches {
  int64_t kept = 0;      // of which it holds LayerCost::kept_bytes
  int64_t deferred = 0;  // of which it holds LayerCost::deferred_bytes
};
/// `layers`: together, those of the stage or others of the same proportions.
HeldMicroBatches held_micro_batches(const distributed::JobLayout& layout, int64_t stage,
                                    const LayerCost& layers);

/// `chunks`: chunks_of(layout, costs).
int64_t stage_bytes(const distributed::JobLayout& layout, const PartCosts& costs,
                    const std::vector<LayerCost>& chunks, int64_t stage);

}  // namespace phi::planning
