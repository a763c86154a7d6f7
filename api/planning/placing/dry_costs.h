// DryCosts: what calls, reshards and sums of gradients cost, by making each of them once in a dry
// world and pricing what its rank would launch and send. The rules and plans that a job runs by
// answer; nothing is written twice.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "api/planning/placing/model_graph.h"
#include "distributed/comm/recording/recording_world.h"
#include "distributed/planner/place_tensors.h"
#include "distributed/simulator/machine.h"

namespace phi::planning {

using distributed::planner::AttrPtr;

class DryCosts final : public distributed::planner::PlacementCosts {
 public:
  /// Costs of the first rank of `mesh`. `num_ranks` of the job share the machine's cores. The
  /// arguments must outlive this.
  DryCosts(const std::vector<CallKind>& kinds, const distributed::ProcessMesh& mesh,
           int64_t num_ranks, const distributed::simulator::MachineModel& machine);

  std::optional<CallCost> call(const distributed::planner::OpGraph::OpCall& call,
                               std::span<const distributed::planner::TensorState> inputs,
                               const std::vector<bool>& receives) override;
  int64_t reshard(const distributed::planner::OpGraph::Tensor& tensor, AttrPtr from,
                  AttrPtr to) override;
  Sum sum(const distributed::planner::OpGraph::Tensor& tensor, AttrPtr a, AttrPtr b) override;

  /// Why a call was not possible, of the last such one; empty: all were.
  const std::string& refusal() const { return refusal_; }

 private:
  class Measurement;
  struct CallKey {
    size_t kind;
    std::vector<AttrPtr> attrs;  // of inputs, and what they are gathered from
    std::vector<bool> receives;  // of inputs, then of outputs
    auto operator<=>(const CallKey&) const = default;
  };
  using ArrayKey = std::tuple<std::vector<int64_t>, DataType, std::vector<AttrPtr>>;

  int64_t price(const std::function<void()>& step);

  const std::vector<CallKind>& kinds_;
  const distributed::ProcessMesh& mesh_;
  int64_t num_ranks_;
  const distributed::simulator::MachineModel& machine_;
  distributed::RecordingWorld world_;
  std::map<CallKey, std::optional<CallCost>> calls_;
  std::map<ArrayKey, int64_t> reshards_;
  std::map<ArrayKey, Sum> sums_;
  std::string refusal_;
};

}  // namespace phi::planning
