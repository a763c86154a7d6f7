// Walks the graph along the edges of its nodes.
#include "api/capture/result_graph.h"

#include <vector>

#include "api/autograd/grad_node.h"

namespace phi::ir {

uint64_t newest_node() { return IntrusivePtr<GradNode>(new LeafNode)->sequence(); }

ResultGraph result_graph(const Tensor& y, uint64_t begin) {
  ResultGraph graph;
  std::vector<const GraphNode*> open;
  const auto meet = [&](const GraphNode* node) {
    if (node && graph.nodes.insert(node).second) open.push_back(node);
  };
  meet(y.grad_link().node());
  while (!open.empty()) {
    const GraphNode& node = *open.back();
    open.pop_back();
    if (node.sequence() <= begin) {
      graph.outside = &node;
      continue;
    }
    graph.reaches_further = graph.reaches_further || node.reaches_further();
    for (const auto& edge : node.edges()) meet(edge.node.get());
  }
  return graph;
}

}  // namespace phi::ir
