// The recorded graph of a function's result.
#pragma once

#include <cstdint>
#include <set>

#include "api/tensor/tensor.h"
#include "phi/autograd/engine.h"

namespace phi::ir {

using GraphNode = autograd::Node<Tensor>;

/// Node numbers grow: that of a new one is above all there are.
uint64_t newest_node();

struct GraphBehind {
  std::set<const GraphNode*> nodes;    // that y's gradient leads to
  const GraphNode* outside = nullptr;  // one made up to `begin`, whose own graph is left out
  bool reaches_further = false;        // one leads to tensors that its edges do not show
};

/// Of a function that was called after `begin` = newest_node().
GraphBehind graph_behind(const Tensor& y, uint64_t begin);

}  // namespace phi::ir
