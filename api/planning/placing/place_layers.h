// place_layers: the placements of a model's parameters and activations on a mesh, with the least
// predicted time of a forward and a backward pass, for a model that does not say how it is split.
//
//   const auto loss = [&](const TensorList& in) { return nn::cross_entropy(model(in[0]), in[1]); };
//   const PlacedLayers placed = place_layers(model, loss, {ids, labels}, mesh, machine);
//   nn::shard(model, mesh, placed.layout);
//
// Parameters may be replicated, or sharded over tensor dims that their mesh dims divide evenly. An
// activation may be moved at the input and the output of each nn::Layer. Everything else follows
// from the operators' rules. The result is exact for the recorded program: no other choice of these
// placements has a lower predicted time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/nn/layout/layout.h"
#include "api/planning/placing/model_graph.h"
#include "distributed/simulator/machine.h"

namespace phi::planning {

/// Why a tensor is placed as it is.
enum class Decided : uint8_t {
  kCost,          // other placements take longer, or as long with more memory
  kPin,           // the caller fixed the placements
  kDivisibility,  // no tensor dim can be divided evenly
  kNoRule,        // no operator that uses it accepts other placements
  kUnused,        // the loss does not depend on it
};
/// "cost", "pin", ...
std::string_view name_of(Decided decided);

/// The placements of `attr`, not null, by mesh dim.
nn::AxisPlacements axis_placements_of(const distributed::TensorDistAttr* attr);

/// "{dp: S0, tp: R}"; "as it is" for null.
std::string text_of(const distributed::TensorDistAttr* attr);

/// A choice of placements, and the best other one.
struct Reason {
  nn::Layout::Kind kind = nn::Layout::Kind::kParameters;
  std::string name;                                   // of the parameter, or the path of the layer
  const distributed::TensorDistAttr* attr = nullptr;  // null: an activation keeps its placements
  int64_t bytes = 0;                                  // of a parameter, on a rank
  Decided decided = Decided::kCost;
  /// The placements with the least cost among the others, and by how much longer and larger the
  /// best layout with them is. Set if kCost decided.
  const distributed::TensorDistAttr* next_attr = nullptr;  // null: an activation keeps its own
  double next_seconds = 0;
  int64_t next_bytes = 0;

  /// "layer0.up.weight {tp: S1}: next best {tp: R}, +1250.0 us, +3.0 MiB"
  std::string to_string() const;
};

struct PlacedLayers {
  nn::Layout layout;  // the pins and a row for each parameter and activation that is not whole
  /// Predicted, of the forward and the backward pass of a micro-batch, and what
  /// PlaceLayersOptions::seconds_per_byte adds.
  double seconds = 0;
  /// One for each parameter, in the order of Module::named_parameters(), then one for each
  /// activation that the layout fixes.
  std::vector<Reason> reasons;
};

struct PlaceLayersOptions {
  /// Rows that are fixed. Its batches are the placements of the loss's inputs along each mesh dim.
  nn::Layout pins = {};
  /// Ranks of the job, which share the machine's cores; 0: those of the mesh.
  int64_t num_ranks = 0;
  /// Arrays of a parameter's size that a rank holds: the weight, its gradient, optimizer states.
  int64_t parameter_copies = 4;
  /// Added to the time for each byte of the parameters that a rank holds: the time of the
  /// optimizer's update, or a price of memory.
  double seconds_per_byte = 0;
  /// False: activations that are not pinned keep their placements.
  bool moves_activations = true;
};

/// PlaceLayersOptions::seconds_per_byte of an update by AdamW, of float32 weights and states.
double update_seconds_per_byte(const distributed::simulator::MachineModel& machine,
                               int64_t num_ranks);

/// `model` is on no mesh and stays so. `inputs`: the global tensors of a micro-batch; placeholders
/// will do. Gradients of parameters are reduced to the parameters' placements once.
///
/// Errors   those of capture_graph; InvalidArgument for pins that the model or mesh cannot have,
/// and
///          if no placements are possible; ResourceExhausted if the model's tensors depend on each
///          other in too many ways.
PlacedLayers place_layers(const nn::Module& model, const LossFunction& loss,
                          const TensorList& inputs, const distributed::ProcessMesh& mesh,
                          const distributed::simulator::MachineModel& machine,
                          const PlaceLayersOptions& options = {});

}  // namespace phi::planning
