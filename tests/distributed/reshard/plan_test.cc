// Plans without ranks: which steps, in which order, how many bytes; each box exactly once; errors.
#include "distributed/reshard/plan.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

constexpr auto kF32 = DataType::FLOAT32;

std::string steps_of(const ReshardPlan& plan) {
  std::string out;
  for (const ReshardStep& step : plan.steps) {
    if (!out.empty()) out += ", ";
    out += name_of(step.kind);
  }
  return out;
}

struct Row {
  std::vector<int64_t> mesh;
  std::vector<Placement> src;
  std::vector<Placement> dst;
  Dims shape;
  std::string steps;
  int64_t max_bytes;  // received per rank, in all steps
};

TEST(Plan, StepsAndBytesOnOneMesh) {
  const auto r = Replicate();
  const auto s0 = Shard(0);
  const auto s1 = Shard(1);
  const auto p = Partial();
  const auto max = Partial(ReduceKind::kMax);
  const Row rows[] = {
      {{4}, {s0}, {s0}, {64, 32}, "", 0},
      {{4}, {r}, {s0}, {64, 32}, "slice", 0},
      {{4}, {s0}, {r}, {64, 32}, "all_gather", 48 * 32 * 4},
      {{4}, {s0}, {s1}, {64, 32}, "all_to_all", 16 * 24 * 4},
      {{4}, {p}, {s1}, {64, 32}, "reduce_scatter", 3 * 64 * 8 * 4},
      {{4}, {p}, {r}, {640, 320}, "all_reduce", 2 * 3 * 160 * 320 * 4},
      {{4}, {p}, {p}, {64, 32}, "", 0},
      {{4}, {r}, {p}, {64, 32}, "fill_partial", 0},
      {{4}, {s0}, {p}, {64, 32}, "all_gather, fill_partial", 48 * 32 * 4},
      {{4}, {p}, {max}, {1, 1}, "all_reduce, fill_partial", 12},
      // Axes that do not change are not gathered.
      {{2, 4}, {s0, s1}, {s0, r}, {64, 32}, "all_gather", 32 * 24 * 4},
      {{2, 4}, {s0, r}, {r, s1}, {64, 32}, "all_to_all", 32 * 8 * 4},
      {{2, 4}, {s0, p}, {s0, s1}, {64, 32}, "reduce_scatter", 3 * 32 * 8 * 4},
      // The smallest local size first.
      {{2, 4}, {p, r}, {r, s0}, {64, 32}, "slice, all_reduce", 16 * 32 * 4},
      {{2, 4}, {p, p}, {r, s0}, {64, 32}, "reduce_scatter, all_reduce", 4 * 16 * 32 * 4},
      {{2, 4}, {p, s0}, {r, r}, {64, 32}, "all_reduce, all_gather", 4 * 16 * 32 * 4},
      // One round for all changes at once.
      {{2, 4}, {p, s1}, {s0, r}, {64, 32}, "reduce_scatter", 2 * 32 * 32 * 4 - 32 * 8 * 4},
      {{2, 2}, {Shard(0, 0), Shard(0, 1)}, {Shard(0, 1), Shard(0, 0)}, {8}, "all_to_all", 8},
  };
  for (const Row& row : rows) {
    const ProcessMesh mesh(row.mesh);
    const auto plan = plan_reshard(TensorDistAttr::get(mesh, row.src),
                                   TensorDistAttr::get(mesh, row.dst), row.shape, kF32);
    EXPECT_EQ(steps_of(*plan), row.steps) << plan->to_string();
    EXPECT_EQ(plan->max_bytes(), row.max_bytes) << plan->to_string();
  }
}

TEST(Plan, AcrossMeshesPartialValuesAreReducedIntoShardsBeforeTheyLeave) {
  const ProcessMesh from({4});
  const ProcessMesh to({2}, {}, {4, 5});
  const auto plan = plan_reshard(TensorDistAttr::get(from, {Partial(ReduceKind::kMax)}),
                                 TensorDistAttr::get(to, {Replicate()}), {64, 32}, kF32);
  EXPECT_EQ(steps_of(*plan), "reduce_scatter, send_recv");
  EXPECT_EQ(plan->bytes(plan->steps[1], 4).received, 64 * 32 * 4);
  EXPECT_EQ(plan->bytes(plan->steps[1], 0).sent, 2 * 16 * 32 * 4);
}

TEST(Plan, AcrossMeshesPartialIsKeptWhereMeshDimsCorrespond) {
  const ProcessMesh from({2, 2});
  const ProcessMesh to({2, 2}, {}, {4, 5, 6, 7});
  const ProcessMesh flat({2}, {}, {4, 5});
  const auto* src = TensorDistAttr::get(from, {Shard(0), Partial(ReduceKind::kMin)});
  EXPECT_EQ(steps_of(*plan_reshard(src, TensorDistAttr::get(to, src->placements()), {8}, kF32)),
            "send_recv");
  EXPECT_EQ(steps_of(*plan_reshard(src, TensorDistAttr::get(flat, {Partial(ReduceKind::kMin)}), {8},
                                   kF32)),
            "send_recv");
  EXPECT_EQ(steps_of(*plan_reshard(src, TensorDistAttr::get(flat, {Partial(ReduceKind::kSum)}), {8},
                                   kF32)),
            "reduce_scatter, send_recv, fill_partial");
}

TEST(Plan, LoadIsSpreadOverReplicas) {
  const ProcessMesh from({4});
  const ProcessMesh to({4}, {}, {4, 5, 6, 7});
  const auto plan =
      plan_reshard(TensorDistAttr::replicated(from), TensorDistAttr::replicated(to), {64}, kF32);
  for (int64_t rank = 0; rank < 4; ++rank) EXPECT_EQ(plan->bytes(rank).sent, 64 * 4) << rank;
}

TEST(Plan, KindsThatDoNotCommuteAreReducedFromTheLastMeshDimOn) {
  const ProcessMesh mesh({2, 2});
  const auto plan =
      plan_reshard(TensorDistAttr::get(mesh, {Partial(), Partial(ReduceKind::kMax)}),
                   TensorDistAttr::get(mesh, {Shard(0), Partial(ReduceKind::kMax)}), {8}, kF32);
  ASSERT_GE(plan->steps.size(), 2u) << plan->to_string();
  EXPECT_EQ(plan->steps[0].reduce, ReduceKind::kMax);
  EXPECT_EQ(plan->steps[1].reduce, ReduceKind::kSum);
}

// A job of 16,384 ranks is asked about a few of them.
TEST(Plan, LargeMeshesArePlannedRankByRank) {
  const ProcessMesh mesh({64, 16, 16}, {"dp", "pp", "tp"});
  const auto plan = plan_reshard(TensorDistAttr::get(mesh, {Shard(0), Replicate(), Shard(1)}),
                                 TensorDistAttr::get(mesh, {Shard(0), Replicate(), Replicate()}),
                                 {4096, 4096}, kF32);
  EXPECT_EQ(steps_of(*plan), "all_gather");
  EXPECT_EQ(plan->bytes(16383).received, 64 * (4096 - 256) * 4);
  EXPECT_EQ(ranks_of_step(plan->steps[0], 16383).size(), 16u);
}

// Counts what every rank receives, element by element, against what it needs.
void check_boxes(const ReshardPlan& plan, int64_t world) {
  SCOPED_TRACE(plan.to_string());
  for (const ReshardStep& step : plan.steps) {
    if (!step.moves_boxes()) continue;
    const TransferRoutes routes(step.move);
    std::vector<std::vector<BoxTransfer>> sent_to(static_cast<size_t>(world));
    for (int64_t rank = 0; rank < world; ++rank) {
      for (const BoxTransfer& t : routes.outgoing(rank)) {
        sent_to[static_cast<size_t>(t.peer)].push_back({rank, t.box});
      }
    }
    for (int64_t rank = 0; rank < world; ++rank) {
      auto incoming = routes.incoming(rank);
      int64_t elements = 0;
      for (size_t i = 0; i < incoming.size(); ++i) {
        elements += incoming[i].box.numel();
        for (size_t j = 0; j < i; ++j) {
          EXPECT_NE(incoming[i].peer, incoming[j].peer) << "two messages of one pair";
          if (incoming[i].box == incoming[j].box) continue;  // contributions to one reduction
          EXPECT_TRUE(intersect(incoming[i].box, incoming[j].box).empty()) << "received twice";
        }
      }
      const auto coord = step.to()->mesh().coord_of(rank);
      bool wants = coord.has_value();
      for (int m = 0; wants && m < kMaxMeshNdim; ++m) {
        if (has(step.move.first_only, m) && (*coord)[m] != 0) wants = false;
      }
      const int64_t wanted =
          wants ? local_box(plan.shape, *step.to(), *coord).numel() * routes.contributions() : 0;
      EXPECT_EQ(elements, wanted) << "rank " << rank;
      auto& sent = sent_to[static_cast<size_t>(rank)];
      const auto by_peer = [](const BoxTransfer& a, const BoxTransfer& b) {
        return a.peer < b.peer;
      };
      std::sort(incoming.begin(), incoming.end(), by_peer);
      std::sort(sent.begin(), sent.end(), by_peer);
      EXPECT_EQ(incoming, sent) << "rank " << rank << ": sent and expected differ";
    }
  }
}

TEST(Plan, EveryBoxIsReceivedExactlyOnce) {
  std::mt19937 random(7);
  const auto below = [&](int n) { return static_cast<int>(random() % static_cast<unsigned>(n)); };
  const std::vector<std::vector<int64_t>> meshes = {{4}, {8}, {3}, {2, 3}, {2, 2, 2}, {1, 4}, {5}};
  const auto random_attr = [&](int tensor_ndim) {
    const auto& shape = meshes[static_cast<size_t>(below(7))];
    std::vector<int64_t> ranks = {0, 1, 2, 3, 4, 5, 6, 7};
    if (below(2) == 0) std::shuffle(ranks.begin(), ranks.end(), random);
    int64_t size = 1;
    for (int64_t s : shape) size *= s;
    ranks.resize(static_cast<size_t>(size));
    std::vector<Placement> placements;
    for (size_t m = 0; m < shape.size(); ++m) {
      const int choice = below(4);
      placements.push_back(choice == 0   ? Replicate()
                           : choice == 1 ? Partial()
                                         : Shard(below(tensor_ndim), below(3)));
    }
    return TensorDistAttr::get(ProcessMesh(shape, {}, ranks), placements);
  };
  for (int i = 0; i < 2000 && !::testing::Test::HasFailure(); ++i) {
    const int ndim = 1 + below(3);
    std::vector<int64_t> shape;
    for (int d = 0; d < ndim; ++d) shape.push_back(below(10));
    check_boxes(*plan_reshard(random_attr(ndim), random_attr(ndim), shape, kF32), 8);
  }
}

TEST(Plan, ErrorsAreAlikeOnAllRanks) {
  const ProcessMesh mesh({2});
  const auto* r = TensorDistAttr::replicated(mesh);
  EXPECT_THAT(
      [&] {
        plan_reshard(r, TensorDistAttr::get(mesh, {Shard(2)}), {4, 4}, kF32);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "shards tensor dim 2"));
  EXPECT_THAT(
      [&] {
        plan_reshard(r, r, {4, kUnknownDim}, kF32);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "not known yet"));
}

TEST(Plan, PrintsStepsWithBytes) {
  const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  const auto plan = plan_reshard(TensorDistAttr::get(mesh, {Replicate(), Shard(0)}),
                                 TensorDistAttr::replicated(mesh), {64, 32}, kF32);
  EXPECT_EQ(plan->to_string(),
            "reshard f32[64,32]: [R,S0] on mesh(dp=2,tp=4) -> [R,R] on mesh(dp=2,tp=4)\n"
            "  1. all_gather over tp: [R,S0] on mesh(dp=2,tp=4) -> [R,R] on mesh(dp=2,tp=4)  (6144 "
            "bytes per rank)");
}

TEST(Plan, IsKept) {
  const ProcessMesh mesh({2});
  const auto* a = TensorDistAttr::replicated(mesh);
  const auto* b = TensorDistAttr::get(mesh, {Shard(0)});
  EXPECT_EQ(plan_reshard(a, b, {4}, kF32), plan_reshard(a, b, {4}, kF32));
}

}  // namespace
}  // namespace phi::distributed
