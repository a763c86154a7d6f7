// ModelGraph: the operator calls of a model's forward pass, captured, as the planner reads them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "api/capture/ir.h"
#include "api/nn/module.h"
#include "distributed/planner/op_graph.h"

namespace phi::planning {

/// The loss of a micro-batch: calls the model on `inputs` and returns one element.
using LossFunction = std::function<Tensor(const TensorList& inputs)>;

/// Calls with equal operators, attributes, shapes and dtypes.
struct CallKind {
  ir::Operation operation;        // of the first of them; its values are those of the capture
  std::vector<TensorMeta> metas;  // of the inputs, by slot
};

struct ModelGraph {
  /// The activation slot of a layer, or a reshard in the model's own code.
  struct ActivationPoint {
    std::string path;
    nn::ActivationSlot activation = nn::ActivationSlot::kOutput;
    Dims shape;  // of the first activation in it
    /// The placements of a reshard; null: of a layer.
    const distributed::TensorDistAttr* fixed = nullptr;
  };

  /// Tensors and slots have no choices yet.
  distributed::planner::OpGraph graph;
  std::vector<CallKind> kinds;
  /// The tensors of Module::named_parameters(); kAbsent: not used.
  std::vector<distributed::planner::TensorId> parameters;
  /// The tensors of the loss function's inputs.
  std::vector<distributed::planner::TensorId> inputs;
  /// By slot of the graph.
  std::vector<ActivationPoint> points;
};

/// Captures `loss`, which must call `model`, as the first rank of `mesh` would. Nothing is
/// computed. The model is on no mesh. Inputs may be placeholders. Loops are unrolled. Errors:
/// PreconditionNotMet if the model is sharded already; those of capture().
ModelGraph capture_graph(const nn::Module& model, const LossFunction& loss,
                         const TensorList& inputs, const distributed::ProcessMesh& mesh);

}  // namespace phi::planning
