// explain_layers: a layout that a model declares, beside the best one.
#pragma once

#include <string>
#include <vector>

#include "api/planning/placing/place_layers.h"

namespace phi::planning {

struct ExplainedLayers {
  std::vector<std::string> mesh_dims;
  PlacedLayers declared;
  PlacedLayers best;
};

/// Prices `declared`, whose rows fix what they match; all other parameters are whole, and other
/// activations keep their placements. Then searches, with options.pins. Errors: those of
/// place_layers.
ExplainedLayers explain_layers(const nn::Module& model, const LossFunction& loss,
                               const TensorList& inputs, const distributed::ProcessMesh& mesh,
                               const distributed::simulator::MachineModel& machine,
                               const nn::Layout& declared, const PlaceLayersOptions& options = {});

/// Both times, and the reasons of the best, each with what is declared where that differs.
std::string table(const ExplainedLayers& explained);

/// A line for each reason; one for those that differ only in the numbers of their names, such as
/// "block0.up.weight" and "block1.up.weight".
std::string table(const std::vector<Reason>& reasons);

}  // namespace phi::planning
