// Layouts of modules that do not say how they are split: what they are, what they cost, and that
// the sharded module computes the same.
#include "api/planning/place_layers.h"

#include <gtest/gtest.h>

#include "api/generated/api.h"
#include "api/generated/ops/relu.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/planning/recorded_seconds.h"
#include "api/simulation/record_step.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/recording/recording_world.h"
#include "distributed/simulator/find_machine.h"
#include "phi/tensor_api.h"

namespace phi::planning {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::simulator::find_machine;
using distributed::simulator::MachineModel;

// Two layers of linear maps, without a word of how they are split.
class TwoLayers final : public nn::Layer {
 public:
  TwoLayers(int64_t d, int64_t hidden)
      : up_(*this, "up", d, hidden, {}), down_(*this, "down", hidden, d, {}) {}
  Tensor forward(const Tensor& x) const override { return down_(relu(up_(x))); }

 private:
  nn::Linear up_, down_;
};

std::string placement(const PlacedLayers& placed, const std::string& name) {
  for (const Reason& reason : placed.reasons) {
    if (reason.name == name && reason.kind == nn::Layout::Kind::kParameters)
      return reason.attr->placement(0).to_string();
  }
  return "none";
}

std::string table(const nn::Module& model, const PlacedLayers& placed) {
  std::string text = placed.layout.describe(model);
  for (const Reason& reason : placed.reasons) text += reason.to_string() + "\n";
  return text;
}

LossFunction squared_error_of(const nn::Layer& model) {
  return [&model](const TensorList& in) { return nn::mean_squared_error(model(in[0]), in[1]); };
}

TEST(PlaceLayers, TwoMatmulsAreSplitByColumnsThenByRows) {
  const MachineModel machine = find_machine("h100_80g");
  for (const int64_t ranks : {2, 4, 8}) {
    SCOPED_TRACE(ranks);
    TwoLayers model(4096, 16384);
    const Tensor x = placeholder({8, 1024, 4096}, DataType::FLOAT32, CPUPlace());
    const ProcessMesh mesh({ranks}, {"tp"});
    const PlacedLayers placed = place_layers(model, squared_error_of(model), {x, x}, mesh, machine);
    SCOPED_TRACE(table(model, placed));
    EXPECT_EQ(placement(placed, "up.weight"), "S1");
    EXPECT_EQ(placement(placed, "up.bias"), "S0");
    EXPECT_EQ(placement(placed, "down.weight"), "S0");
    EXPECT_EQ(placement(placed, "down.bias"), "R");
  }
}

}  // namespace
}  // namespace phi::planning
