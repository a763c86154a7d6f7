// OpGraph: the operator calls of a model's forward pass, its tensors, and the points at which a
// layout may change placements.
//
// A graph does not say how anything is placed. place_tensors() (place_tensors.h) chooses the
// placements of the tensors that have choices, and those at the points.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <variant>
#include <vector>

#include "distributed/placement/dist_attr.h"
#include "phi/common/dtype.h"

namespace phi::distributed::planner {

/// An index into OpGraph::tensors.
using TensorId = int;
inline constexpr TensorId kAbsent = -1;

struct OpGraph {
  struct Tensor {
    std::string name;  // in messages
    Dims shape;
    DataType dtype = DataType::UNDEFINED;
    /// The placements of an input or a parameter. Empty: that of its producer.
    std::vector<const TensorDistAttr*> choices = {};
    bool is_trained = false;          // a parameter that receives a gradient
    int64_t copies = 0;               // arrays of its size that a rank holds throughout
    double picoseconds_per_byte = 0;  // that a rank holds of one of them; added to the time
  };
  /// A call of an operator. Calls of one kind have equal operators, attributes, shapes and dtypes.
  struct OpCall {
    size_t kind = 0;
    std::vector<TensorId> inputs = {};  // by slot
    std::vector<TensorId> outputs = {};
  };
  /// A point at which `to` has the value of `from`, in placements that a layout may fix.
  struct Move {
    TensorId from = kAbsent;
    TensorId to = kAbsent;
    size_t slot = 0;  // index into OpGraph::slots
  };
  /// The placements at one or more points. Null: each point keeps those that it receives.
  struct Slot {
    std::string name;
    std::vector<const TensorDistAttr*> choices;
  };

  std::vector<Tensor> tensors;
  std::vector<Slot> slots;
  std::vector<std::variant<OpCall, Move>> steps;  // a tensor's producer precedes its users
  /// The loss, from which the backward pass starts. It is read on every rank.
  TensorId loss = kAbsent;

  /// Whether each tensor receives a gradient: it is floating, depends on a trained parameter, and
  /// the loss depends on it.
  std::vector<bool> receive_gradients() const;
};

}  // namespace phi::distributed::planner
