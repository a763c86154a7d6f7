// Explanations of calls: placements, reasons, moves, places; and budgets of moves.
#include "api/explain/explain.h"

#include <gmock/gmock.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "api/autograd/autograd.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/add_n.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/softmax.h"
#include "api/generated/ops/sum.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
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
    EXPECT_EQ(move.reason, "dim 1 must be unsharded for softmax(axis=1), but is split over tp");
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
              "partial over tp is reduced: gelu of a sum is not the sum of gelus|");
    EXPECT_EQ(reasons([&] { add(rows, whole); }), "|follows x, whose dim 0 is split over dp|");
    EXPECT_EQ(reasons([&] {
                add_n({partial, whole});
              }),
              "partial over tp is reduced: add_n propagates a partial sum only where all its "
              "inputs are partial||");
    const Tensor columns = on_grid({4, 4}, {Shard(1), Replicate()});
    EXPECT_THAT(
        reasons([&] { matmul(rows, columns); }),
        HasSubstr("it yields to x, whose dim 0 is split over dp: a mesh dim splits one factor"));
    const Tensor other = on_grid({4, 4}, {Replicate(), Partial()});
    EXPECT_EQ(reasons([&] { multiply(partial, other); }),
              "|only one of y and x may stay partial over tp|");
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
    EXPECT_THAT(move.reason, HasSubstr("x is on mesh(tp=2), but the op runs on mesh(tp=1; ranks "
                                       "2), the mesh of its last input"));
    EXPECT_EQ(move.bytes.received, 4 * 8 * 4);
    ASSERT_FALSE(move.steps.empty());
    EXPECT_EQ(move.steps.back().mesh_dims, "between meshes");
  });
}

// ---- where calls come from ----

class Net final : public nn::Sequential {
 public:
  Net() {
    add<nn::Linear>("up", 4, 8, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<nn::Linear>("down", 8, 2, nn::LinearOptions{.weight = nn::normal(0.5)});
  }
};

void lay_out(Net* net, const ProcessMesh& mesh) {
  nn::Layout layout;
  layout.parameters("up.weight", {{"tp", Shard(1)}})
      .parameters("up.bias", {{"tp", Shard(0)}})
      .parameters("down.weight", {{"tp", Shard(0)}})
      .outputs("down", {{"tp", Replicate()}});
  nn::shard(*net, mesh, layout);
}

std::vector<const ExplainedCall*> calls_of(const Explanation& explanation, const std::string& op) {
  std::vector<const ExplainedCall*> found;
  for (const ExplainedCall& call : explanation.calls) {
    if (call.op == op) found.push_back(&call);
  }
  return found;
}

TEST(Explain, CallsHaveTheirModuleItsLineAndNamesOfParameters) {
  run_ranks(2, [](distributed::World&) {
    Net net;
    lay_out(&net, tp());
    const Explanation explanation = explain([&] { net(laid({3, 4}, {})); }, net.named_parameters());
    const auto products = calls_of(explanation, "matmul");
    ASSERT_THAT(products, SizeIs(2)) << explanation.to_string();
    EXPECT_EQ(products[0]->module, "up");
    EXPECT_EQ(products[1]->module, "down");
    EXPECT_EQ(products[1]->inputs[1].value, "down.weight");
    EXPECT_THAT(products[0]->file, HasSubstr("sequential.cc"));
    EXPECT_GT(products[0]->line, 0u);
    const auto moves = calls_of(explanation, "reshard");
    ASSERT_THAT(moves, SizeIs(1)) << explanation.to_string();
    EXPECT_EQ(moves[0]->moves[0].reason, "the model's layout sets these placements");
    EXPECT_EQ(moves[0]->module, "down");
    EXPECT_EQ(moves[0]->moves[0].steps.at(0).name, "all_reduce");
  });
}

TEST(Explain, GradientsBelongToTheModuleOfTheirCall) {
  run_ranks(2, [](distributed::World&) {
    Net net;
    lay_out(&net, tp());
    for (Tensor p : net.parameters()) p.set_requires_grad();
    const Explanation explanation = explain([&] { sum(net(laid({3, 4}, {}))).backward(); });
    const auto products = calls_of(explanation, "matmul_grad");
    ASSERT_THAT(products, SizeIs(2)) << explanation.to_string();
    EXPECT_EQ(products[0]->module, "down");
    EXPECT_EQ(products[1]->module, "up");
  });
}

// Micro-batches, stages, sends between them and the optimizer, as a trainer does them.
TEST(Explain, AStepOfAPipelineIsToldWhole) {
  run_ranks(2, [](distributed::World& world) {
    Net net;
    const ProcessMesh mesh({2}, {"pp"});
    nn::shard(net, mesh, nn::Layout().pipeline("pp", "*"));
    training::Trainer trainer(net, nn::mean_squared_error,
                              {.rate = {.peak = 0.1}, .micro_batches = 2});
    const Explanation explanation = explain([&] {
      trainer.step(
          {{full({3, 4}, 0.5f), full({3, 2}, 0.1f)}, {full({3, 4}, 0.25f), full({3, 2}, 0.2f)}});
    });
    EXPECT_GT(explanation.calls_elsewhere, 0);
    std::vector<std::string> reasons;
    for (const ExplainedCall& call : explanation.calls) {
      for (const ExplainedMove& move : call.moves) reasons.push_back(move.reason);
    }
    for (const auto& [op, action] : {std::pair{"matmul", "forward"},
                                     {"matmul_grad", "backward"},
                                     {"scaled_adamw_", "optimizer"}}) {
      for (const ExplainedCall* call : calls_of(explanation, op)) EXPECT_EQ(call->action, action);
    }
    for (const ExplainedCall* call : calls_of(explanation, "matmul")) {
      EXPECT_EQ(call->chunk, world.rank());
    }
    EXPECT_THAT(calls_of(explanation, "matmul"), SizeIs(2));
    EXPECT_EQ(calls_of(explanation, "matmul")[1]->micro_batch, 1);
    EXPECT_FALSE(calls_of(explanation, "scaled_adamw_").empty());
    EXPECT_EQ(std::ranges::count(reasons, "sent to the next stage"), 2);
    EXPECT_EQ(std::ranges::count(reasons, "a gradient sent to the previous stage"), 2);
    // Two activations of [3,8] go one way and their gradients the other.
    int64_t between = 0;
    for (const Explanation::Total& total : explanation.by_mesh_dim()) {
      if (total.name == "between meshes") between = total.bytes.most();
    }
    EXPECT_GE(between, 2 * 3 * 8 * 4);
  });
}

// ---- the whole ----

TEST(Explain, CountsWhatTheRankCounts) {
  run_ranks(2, [](distributed::World& world) {
    Net net;
    lay_out(&net, tp());
    for (Tensor p : net.parameters()) p.set_requires_grad();
    const Counters before = world.rank_context().counters();
    const Explanation explanation = explain([&] { sum(net(laid({3, 4}, {}))).backward(); });
    const Counters& after = world.rank_context().counters();
    EXPECT_EQ(explanation.moved().sent, after.bytes_sent - before.bytes_sent);
    EXPECT_EQ(explanation.moved().received, after.bytes_received - before.bytes_received);
    int64_t by_op = 0;
    for (const auto& total : explanation.by_op()) by_op += total.bytes.sent;
    int64_t by_dim = 0;
    for (const auto& total : explanation.by_mesh_dim()) by_dim += total.bytes.sent;
    EXPECT_EQ(by_op, explanation.moved().sent);
    EXPECT_EQ(by_dim, explanation.moved().sent);
  });
}

TEST(Explain, NobodyListensAfterwards) {
  run_ranks(1, [](distributed::World& world) {
    const RankContext& rank = world.rank_context();
    EXPECT_THAT([] { explain([] { throw errors::Unavailable("the function failed"); }); },
                ThrowsError(ErrorCode::kUnavailable, "the function failed"));
    EXPECT_FALSE(rank.observers().any());
  });
}

// Of a rank of a job of any size, without the job.
TEST(Explain, ADryRunIsToldWithoutTimes) {
  distributed::DryWorld world(3, 4);
  const distributed::World::Scope scope(world);
  const ProcessMesh grid({2, 2}, {"dp", "tp"});
  const Tensor x = laid({4, 8}, {Replicate(), Shard(1)}, grid);
  const Explanation explanation = explain([&] { softmax(x, 1); });
  ASSERT_THAT(explanation.calls, SizeIs(1));
  EXPECT_EQ(explanation.calls[0].moved().received, 4 * 4 * 4);
  EXPECT_THAT(explanation.to_string(), Not(HasSubstr(" ms")));
  EXPECT_THAT(explain_all_ranks(explanation), HasSubstr("== rank 3 of 4 =="));
}

TEST(Explain, TheTableFoldsCallsThatAreAlike) {
  run_ranks(2, [](distributed::World&) {
    const Tensor x = laid({4, 8}, {Shard(1)});
    const Explanation explanation = explain([&] {
      softmax(x, 1);
      softmax(x, 1);
    });
    const std::string text = explanation.text(/*with_times=*/false);
    EXPECT_THAT(text, HasSubstr("outside of any module, on mesh(tp=2)\n  2x softmax (x f32[4,8] "
                                "[S1] as [R]) -> out f32[4,8] [R]\n    x f32[4,8] [S1] -> [R]: "
                                "all_gather over tp; sent 128 B, received 128 B\n      because dim "
                                "1 must be unsharded for softmax(axis=1), but is split over tp\n"));
    EXPECT_THAT(text, HasSubstr("2 calls here, 0 of other ranks; 2 reshards"));
  });
}

TEST(Explain, RanksThatDidTheSameShareATable) {
  run_ranks(3, [](distributed::World& world) {
    const ProcessMesh pair({2}, {"tp"}, {0, 1});
    const Tensor x = laid({4, 8}, {Shard(1)}, pair);
    const Explanation own = explain([&] { softmax(x, 1); });
    const std::string text = explain_all_ranks(own);
    EXPECT_THAT(text, HasSubstr("== ranks 0-1, identical (times of rank 0) of 3"));
    EXPECT_THAT(text, HasSubstr("== rank 2 of 3 =="));
    const auto json = nlohmann::json::parse(explain_all_ranks_as_json(own));
    EXPECT_EQ(json["world_size"], 3);
    ASSERT_EQ(json["explained"].size(), 2u);
    EXPECT_EQ(json["explained"][0]["ranks"], nlohmann::json({0, 1}));
    const auto& call = json["explained"][0]["first"]["calls"][0];
    EXPECT_EQ(call["op"], "softmax");
    EXPECT_EQ(call["moves"][0]["steps"][0]["over"], "tp");
    EXPECT_EQ(call["moves"][0]["bytes"]["sent"], 64);
    EXPECT_FALSE(world.rank_context().observers().any());
  });
}

// ---- budgets ----

TEST(ExpectMoves, ALayoutThatMovesNothingIsWithinAnyBudget) {
  run_ranks(2, [](distributed::World&) {
    const Tensor x = laid({4, 8}, {Shard(0)});
    expect_moves([&] { gelu(x); }, {.bytes_at_most = 0, .reshards_at_most = 0});
    expect_moves([&] { softmax(laid({4, 8}, {Shard(1)}), 1); }, {});
    expect_moves([&] { softmax(laid({4, 8}, {Shard(1)}), 1); }, {.bytes_at_most = 64});
  });
}

// Rank 2 moves nothing, and fails as the others do.
TEST(ExpectMoves, AllRanksHearOfTheWorstMoves) {
  run_ranks(3, [](distributed::World&) {
    const ProcessMesh pair({2}, {"tp"}, {0, 1});
    const Tensor x = laid({4, 8}, {Shard(1)}, pair);
    const auto f = [&] { softmax(x, 1); };
    EXPECT_THAT(
        [&] { expect_moves(f, {.bytes_at_most = 63}); },
        ThrowsError(
            ErrorCode::kPreconditionNotMet,
            "rank 0 moves 64 bytes in 1 reshards, but at most 63 bytes are expected. Its largest "
            "reshards:\n  x of softmax f32[4,8] [S1] -> [R]: all_gather over tp (64 bytes sent, 64 "
            "received); dim 1 must be unsharded for softmax(axis=1), but is split over tp"));
    EXPECT_THAT([&] { expect_moves(f, {.reshards_at_most = 0}); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "but at most 0 reshards are expected"));
  });
}

}  // namespace
}  // namespace phi
