// Explanations of calls: placements, reasons, moves, places; and budgets of moves.
#include "api/explain/explain.h"

#include <gmock/gmock.h>

#include <nlohmann/json.hpp>

#include "api/autograd/autograd.h"
#include "api/nn/nn.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "phi/api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::SizeIs;

const ProcessMesh& tp() {
  static const ProcessMesh mesh({2}, {"tp"});
  return mesh;
}

Tensor laid(const Dims& shape, std::initializer_list<Placement> how,
            const ProcessMesh& mesh = tp()) {
  return shard_tensor(full(shape, 0.5f), mesh, how);
}

// What one call of each rank is told as.
ExplainedCall only_call(const std::function<void()>& f) {
  const Explanation explanation = explain(f);
  EXPECT_THAT(explanation.calls, SizeIs(1)) << explanation.to_string();
  return explanation.calls.empty() ? ExplainedCall() : explanation.calls[0];
}

TEST(Explain, ACallThatMovesNothingSaysSo) {
  run_ranks(2, [](distributed::World&) {
    const Tensor x = laid({4, 8}, {Replicate()});
    const Tensor w = laid({8, 6}, {Shard(1)});
    Tensor y;
    const ExplainedCall call = only_call([&] { y = matmul(x, w); });
    EXPECT_EQ(call.op, "matmul");
    EXPECT_EQ(call.rule, "MatmulInferSpmd");
    ASSERT_THAT(call.inputs, SizeIs(2));
    EXPECT_EQ(call.inputs[1].name, "y");
    EXPECT_EQ(call.inputs[1].attr, w.dist_attr());
    EXPECT_EQ(call.inputs[1].wanted, w.dist_attr());
    ASSERT_THAT(call.outputs, SizeIs(1));
    EXPECT_EQ(call.outputs[0].attr, y.dist_attr());
    EXPECT_THAT(call.moves, IsEmpty());
    EXPECT_EQ(call.moved().most(), 0);
    EXPECT_EQ(call.kernel.most(), 0);
  });
}

TEST(Explain, AMoveHasItsStepsBytesAndReason) {
  run_ranks(2, [](distributed::World&) {
    const Tensor x = laid({4, 8}, {Shard(1)});
    Tensor y;
    const ExplainedCall call = only_call([&] { y = softmax(x, 1); });
    ASSERT_THAT(call.moves, SizeIs(1));
    const ExplainedMove& move = call.moves[0];
    EXPECT_EQ(move.tensor, "x");
    EXPECT_EQ(move.from, x.dist_attr());
    EXPECT_EQ(move.to, call.inputs[0].wanted);
    EXPECT_EQ(move.reason, "dim 1 must be whole for softmax(axis=1), and is split over tp");
    ASSERT_THAT(move.steps, SizeIs(1));
    EXPECT_EQ(move.steps[0].name, "all_gather");
    EXPECT_EQ(move.steps[0].mesh_dims, "tp");
    EXPECT_EQ(move.bytes.sent, 4 * 4 * 4);
    EXPECT_EQ(move.bytes.received, 4 * 4 * 4);
    EXPECT_EQ(call.kernel.most(), 0);
  });
}

// Reasons by what is asked; none of them is written into a rule.
TEST(Explain, ReasonsNameWhoseFaultAMoveIs) {
  run_ranks(4, [](distributed::World&) {
    const ProcessMesh grid({2, 2}, {"dp", "tp"});
    const auto on_grid = [&](const Dims& shape, std::initializer_list<Placement> how) {
      return laid(shape, how, grid);
    };
    const auto reasons = [](const std::function<void()>& f) {
      std::string text;
      for (const auto& input : only_call(f).inputs) text += input.reason + "|";
      return text;
    };
    const Tensor partial = on_grid({4, 4}, {Replicate(), Partial()});
    const Tensor rows = on_grid({4, 4}, {Shard(0), Replicate()});
    const Tensor whole = on_grid({4, 4}, {});
    EXPECT_EQ(reasons([&] { gelu(partial); }),
              "partial over tp becomes whole: gelu of a sum is not the sum of gelus|");
    EXPECT_EQ(reasons([&] { add(rows, whole); }), "|follows x, whose dim 0 is split over dp|");
    EXPECT_EQ(
        reasons([&] { add(partial, whole); }),
        "partial over tp becomes whole: add passes a partial sum on only where all its inputs "
        "are partial||");
    const Tensor columns = on_grid({4, 4}, {Shard(1), Replicate()});
    EXPECT_THAT(reasons([&] { matmul(rows, columns); }),
                HasSubstr("gives way to x, whose dim 0 is split over dp: a mesh dim splits one "
                          "factor"));
    const Tensor tp_partial = on_grid({2, 4}, {Replicate(), Partial()});
    EXPECT_THAT(reasons([&] { matmul(tp_partial, partial); }),
                HasSubstr("only one of x and y may stay partial over tp"));
  });
}

TEST(Explain, AnOutputSaysWhyItIsPartial) {
  run_ranks(2, [](distributed::World&) {
    const Tensor x = laid({4, 8}, {Shard(1)});
    const Tensor w = laid({8, 6}, {Shard(0)});
    const ExplainedCall call = only_call([&] { matmul(x, w); });
    EXPECT_EQ(call.outputs[0].reason,
              "partial over tp: dim 1 of x and dim 0 of y are split over it");
  });
}

TEST(Explain, OtherMeshesArriveWithTheReasonAndTheWayBetween) {
  run_ranks(3, [](distributed::World& world) {
    const ProcessMesh first({2}, {"tp"}, {0, 1});
    const ProcessMesh second({1}, {"tp"}, {2});
    const Tensor x = laid({4, 8}, {Shard(0)}, first);
    const Tensor w = laid({8, 6}, {}, second);
    const Explanation explanation = explain([&] { matmul(x, w); });
    if (world.rank() != 2) {
      // Ranks of the first mesh send, and compute nothing.
      EXPECT_EQ(explanation.calls_elsewhere, 1);
      ASSERT_THAT(explanation.calls, SizeIs(1));
      EXPECT_FALSE(explanation.calls[0].computes_here);
      EXPECT_EQ(explanation.moved().sent, 2 * 8 * 4);
      return;
    }
    ASSERT_THAT(explanation.calls, SizeIs(1));
    const ExplainedMove& move = explanation.calls[0].moves.at(0);
    EXPECT_THAT(move.reason, HasSubstr("x lies on mesh(tp=2), and the op runs on mesh(tp=1; ranks "
                                       "2), where its last input lies"));
    EXPECT_EQ(move.bytes.received, 4 * 8 * 4);
    ASSERT_FALSE(move.steps.empty());
    EXPECT_EQ(move.steps.back().mesh_dims, "between meshes");
  });
}

}  // namespace
}  // namespace phi
