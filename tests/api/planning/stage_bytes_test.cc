// Estimated bytes beside those that the ranks of the whole job hold.
#include "api/planning/stage_bytes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>

#include "api/nn/loss.h"
#include "api/planning/estimate.h"
#include "api/planning/mlp_net.h"
#include "api/planning/planned_model.h"
#include "api/tensor/placeholder.h"
#include "phi/tensor_api.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::pipeline::ScheduleKind;
using distributed::simulator::MachineModel;

constexpr int64_t kSamples = 16, kSeq = 64, kVocab = 32, kWidth = 32, kBlocks = 8;

class Net final : public MlpNet {
 public:
  explicit Net(int64_t blocks) : MlpNet(blocks, kVocab, kWidth) {}
};

MachineModel a_machine() {
  MachineModel machine;
  for (const DataType dtype : {DataType::FLOAT32, DataType::INT64}) {
    machine.families[dtype] = {
        {"matmul", {"matmul", "matmul_grad"}, distributed::simulator::WorkUnit::kFlops, {{1, 1e9}}},
        {"bytes", {}, distributed::simulator::WorkUnit::kBytes, {{1, 1e9}}}};
  }
  machine.links = {{"node", 0, 1, 1}};
  return machine;
}

ModelToPlan net_to_plan() {
  const auto ids = [](const Dims& shape) {
    return placeholder(shape, DataType::INT64, CPUPlace());
  };
  return {.make = [] { return std::make_shared<Net>(kBlocks); },
          .make_short = [](int64_t blocks) { return std::make_shared<Net>(blocks); },
          .loss = nn::cross_entropy,
          .batch = {ids({kSamples, kSeq}), ids({kSamples, kSeq, 1})}};
}

class StageBytes : public testing::Test {
 protected:
  void check(const JobLayout& layout) {
    int64_t exact = 0;
    for (int64_t stage = 0; stage < layout.pp; ++stage) {
      const int64_t rank = stage * layout.ranks_between_stages();
      exact = std::max(exact, subject_.totals_of(layout, rank).peak_tensor_bytes);
    }
    const Estimate found = lower_bound(layout, costs_.of(layout));
    EXPECT_NEAR(static_cast<double>(found.bytes) / static_cast<double>(exact), 1, 0.1)
        << to_string(layout) << ": " << found.bytes << " of " << exact;
  }

 private:
  const MachineModel machine_ = a_machine();
  const PlannedModel subject_{net_to_plan(), /*devices=*/4, machine_};
  PartCostTable costs_{subject_, machine_};
};

TEST_F(StageBytes, AreThoseOfTheFullestRank) {
  for (const ScheduleKind kind : distributed::pipeline::kScheduleKinds) {
    for (const int64_t micro_batches : {4, 16}) {
      for (const auto recompute : {nn::Recompute::kNone, nn::Recompute::kFull}) {
        check({.dp = 1,
               .pp = 4,
               .schedule = kind,
               .chunks = kind == ScheduleKind::kInterleaved ? 2 : 1,
               .micro_batches = micro_batches,
               .recompute = recompute});
      }
    }
  }
}

TEST_F(StageBytes, FollowTheCutAndShardedStates) {
  for (const ScheduleKind kind : {ScheduleKind::k1F1B, ScheduleKind::kZeroBubbleH1}) {
    check({.dp = 1, .pp = 4, .schedule = kind, .micro_batches = 8, .cut = {1, 2, 2, 3}});
    check({.dp = 2, .pp = 2, .schedule = kind, .micro_batches = 8, .zero_stage = 1});
  }
}

}  // namespace
}  // namespace phi::planning
