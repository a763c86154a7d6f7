// Finds the tensors between trained parameters and the loss.
#include "distributed/planner/op_graph.h"

#include <algorithm>

namespace phi::distributed::planner {
namespace {

struct Ends {
  std::vector<TensorId> inputs;
  std::vector<TensorId> outputs;
};

Ends ends_of(const std::variant<OpGraph::OpCall, OpGraph::Move>& step) {
  if (const auto* call = std::get_if<OpGraph::OpCall>(&step)) return {call->inputs, call->outputs};
  const auto& move = std::get<OpGraph::Move>(step);
  return {{move.from}, {move.to}};
}

bool any_of(const std::vector<TensorId>& tensors, const std::vector<bool>& marked) {
  return std::ranges::any_of(
      tensors, [&](TensorId t) { return t != kAbsent && marked[static_cast<size_t>(t)]; });
}

}  // namespace

std::vector<bool> OpGraph::receive_gradients() const {
  std::vector<bool> tracked, reaches(tensors.size());
  for (const Tensor& tensor : tensors) tracked.push_back(tensor.is_trained);
  for (const auto& step : steps) {
    const Ends ends = ends_of(step);
    if (!any_of(ends.inputs, tracked)) continue;
    for (const TensorId t : ends.outputs) {
      if (t != kAbsent && is_floating(tensors[static_cast<size_t>(t)].dtype))
        tracked[static_cast<size_t>(t)] = true;
    }
  }
  if (loss != kAbsent) reaches[static_cast<size_t>(loss)] = true;
  for (auto step = steps.rbegin(); step != steps.rend(); ++step) {
    const Ends ends = ends_of(*step);
    if (!any_of(ends.outputs, reaches)) continue;
    for (const TensorId t : ends.inputs) {
      if (t != kAbsent) reaches[static_cast<size_t>(t)] = true;
    }
  }
  std::vector<bool> receive(tensors.size());
  for (size_t t = 0; t < tensors.size(); ++t) receive[t] = tracked[t] && reaches[t];
  return receive;
}

}  // namespace phi::distributed::planner
