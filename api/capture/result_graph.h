// The autograd graph of a function's result.
#pragma once

#include <cstdint>
#include <set>

#include "api/tensor/tensor.h"
#include "phi/autograd/engine.h"

namespace phi::ir {

using GraphNode = autograd::Node<Tensor>;

/// Returns a node number that is greater than those of all existing nodes and smaller than those of
/// later nodes.
uint64_t newest_node();

struct ResultGraph {
  std::set<const GraphNode*> nodes;    // nodes that are reachable from y
  const GraphNode* outside = nullptr;  // one of them that is older than `begin`; not expanded
  bool reaches_further = false;        // a node leads to tensors without an edge to them
};

/// Returns the graph of y, the result of a function that was called after `begin` = newest_node().
ResultGraph result_graph(const Tensor& y, uint64_t begin);

}  // namespace phi::ir
