// place_tensors: the placements of a graph's parameters and activations with the least cost of a
// forward and a backward pass, exactly.
//
// What a call does with placements and how long that takes is not known here: PlacementCosts
// answers for each combination of its inputs' placements. No operator has a strategy of its own.
//
// A call receives its inputs as their producers placed them; the operator's rule may reshard them,
// which is part of the call's cost. Placements change otherwise only where a layout can say so, at
// the graph's Moves. So every solution is a layout that a program can apply.
//
// The gradient of a tensor is resharded to the tensor's placements before its producer receives it,
// as api/autograd/grad_node.h does. The contributions of several users are added before that, that
// of the last user first.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "distributed/planner/elimination/elimination.h"
#include "distributed/planner/op_graph.h"

namespace phi::distributed::planner {

/// Interned; null: none.
using AttrPtr = const TensorDistAttr*;

/// The placements of a tensor.
struct TensorState {
  AttrPtr attr = nullptr;
  /// If the tensor is the result of a gather: the placements of the gather's input, which is kept
  /// for the backward pass in its place.
  AttrPtr gathered_from = nullptr;

  friend bool operator==(const TensorState&, const TensorState&) = default;
};

class PlacementCosts {
 public:
  virtual ~PlacementCosts() = default;

  struct CallCost {
    std::vector<AttrPtr> outputs;  // null: absent
    /// Of the gradient that the call's backward pass returns for each input, by slot. Null: none,
    /// or the tensor has an earlier slot, which receives the sum.
    std::vector<AttrPtr> gradients;
    int64_t picoseconds = 0;  // forward and backward, with reshards that the rule requires
    int64_t bytes = 0;        // that are kept for the backward pass, inputs apart
  };
  /// `inputs` by slot; attr is null where absent. `receives`: OpGraph::receive_gradients. An output
  /// that receives a gradient receives it in without_partial(its placements).
  /// Returns nullopt if the operator cannot be called with these placements.
  virtual std::optional<CallCost> call(const OpGraph::OpCall& call,
                                       std::span<const TensorState> inputs,
                                       const std::vector<bool>& receives) = 0;

  /// The picoseconds of a reshard.
  virtual int64_t reshard(const OpGraph::Tensor& tensor, AttrPtr from, AttrPtr to) = 0;

  struct Sum {
    AttrPtr attr = nullptr;
    int64_t picoseconds = 0;
  };
  /// The sum of two gradients of a tensor.
  virtual Sum sum(const OpGraph::Tensor& tensor, AttrPtr a, AttrPtr b) = 0;
};

struct PlacedGraph {
  Cost cost;
  std::vector<TensorState> tensors;
  std::vector<AttrPtr> slots;  // null: keeps placements
  /// For each tensor with choices and each slot, the least cost of the graph with each choice;
  /// nullopt: not possible.
  std::vector<std::vector<std::optional<Cost>>> cost_by_tensor_choice;
  std::vector<std::vector<std::optional<Cost>>> cost_by_slot_choice;
};

struct PlaceTensorsOptions {
  size_t most_rows = Elimination::kMostRows;  // of a table
  size_t most_combinations = 100'000;         // of the placements of a call's inputs
  bool lists_alternatives = true;             // otherwise cost_by_... are empty
};

/// Errors: InvalidArgument if a call is possible with no placements, and if no choices fit
/// together; ResourceExhausted for more than most_combinations, and as Elimination.
PlacedGraph place_tensors(const OpGraph& graph, PlacementCosts& costs,
                          const PlaceTensorsOptions& options = {});

}  // namespace phi::distributed::planner
