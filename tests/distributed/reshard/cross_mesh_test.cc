// Reshard between meshes: equal, different, overlapping and disjoint ranks, any shapes.
#include <gtest/gtest.h>

#include "distributed/reshard/execute.h"
#include "distributed/reshard/plan.h"
#include "support/rank_launcher.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

using testing::all_placements;
using testing::check_reshard;

ProcessMesh mesh_of(const std::vector<int64_t>& shape, const std::vector<int64_t>& ranks) {
  return ProcessMesh(shape, {}, ranks);
}

void check_all_pairs(int64_t world_size, const ProcessMesh& from, const ProcessMesh& to,
                     const std::vector<Placement>& choices, const std::vector<Dims>& shapes) {
  const auto src_lists = all_placements(from.ndim(), choices);
  const auto dst_lists = all_placements(to.ndim(), choices);
  testing::on_ranks(world_size, [&](World&) {
    for (const auto& src : src_lists) {
      for (const auto& dst : dst_lists) {
        for (const Dims& shape : shapes) {
          check_reshard(TensorDistAttr::get(from, src), TensorDistAttr::get(to, dst), shape);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  });
}

const std::vector<Placement> kChoices = {Replicate(), Shard(0), Shard(1), Partial(ReduceKind::kSum),
                                         Partial(ReduceKind::kMax)};
const std::vector<Dims> kShapes = {{8, 4}, {5, 3}, {1, 2}, {0, 2}};

TEST(CrossMesh, DisjointOfEqualShape) {
  check_all_pairs(4, mesh_of({2}, {0, 1}), mesh_of({2}, {2, 3}), kChoices, kShapes);
}
TEST(CrossMesh, Overlapping) {
  check_all_pairs(4, mesh_of({3}, {0, 1, 2}), mesh_of({2}, {2, 3}), kChoices, kShapes);
}
TEST(CrossMesh, SameRanksInAnotherOrder) {
  check_all_pairs(3, mesh_of({3}, {0, 1, 2}), mesh_of({3}, {2, 0, 1}), kChoices, kShapes);
}
TEST(CrossMesh, SameRanksInAnotherShape) {
  check_all_pairs(4, mesh_of({4}, {0, 1, 2, 3}), mesh_of({2, 2}, {0, 1, 2, 3}), kChoices, kShapes);
}
TEST(CrossMesh, ShrinkToOne) {
  check_all_pairs(4, mesh_of({2, 2}, {0, 1, 2, 3}), mesh_of({1}, {2}), kChoices, kShapes);
}
TEST(CrossMesh, ExpandFromOne) {
  check_all_pairs(4, mesh_of({1}, {3}), mesh_of({2, 2}, {0, 1, 2, 3}), kChoices, kShapes);
}
TEST(CrossMesh, TwoDimsDisjoint) {
  check_all_pairs(6, mesh_of({2, 2}, {0, 1, 2, 3}), mesh_of({2, 1}, {4, 5}),
                  {Replicate(), Shard(0), Shard(1), Partial()}, {{5, 3}});
}
TEST(CrossMesh, TwoDimsOfEqualShape) {
  check_all_pairs(6, mesh_of({2, 2}, {0, 1, 2, 3}), mesh_of({2, 2}, {2, 3, 4, 5}),
                  {Replicate(), Shard(0), Shard(1), Partial()}, {{5, 3}});
}
TEST(CrossMesh, Scalars) {
  check_all_pairs(3, mesh_of({2}, {0, 1}), mesh_of({2}, {1, 2}),
                  {Replicate(), Partial(ReduceKind::kSum), Partial(ReduceKind::kAvg)}, {{}});
}

// A rank in neither mesh takes no part: it does not even make a group.
TEST(CrossMesh, RankInNeitherMeshDoesNothing) {
  const auto* src = TensorDistAttr::get(mesh_of({2}, {0, 1}), {Shard(0)});
  const auto* dst = TensorDistAttr::get(mesh_of({2}, {1, 2}), {Replicate()});
  testing::on_ranks(4, [&](World& world) {
    if (world.rank() < 3) {
      return;  // nobody else comes, and rank 3 does not notice
    }
    const auto x = DistTensor::clipped({{4, 2}, DataType::FLOAT32}, src,
                                       RankContext::current().place(), nullptr);
    const DistTensor y = reshard(x, dst);
    EXPECT_EQ(y.attr(), dst);
    EXPECT_FALSE(y.initialized());
    EXPECT_EQ(world.rank_context().counters().reshard_steps, 0);
  });
}

TEST(CrossMesh, RandomPairs) {
  constexpr int kWorld = 6;
  const auto cases = testing::random_reshards(kWorld, 400, 20240607);
  testing::on_ranks(kWorld, [&](World&) {
    for (const auto& c : cases) {
      check_reshard(c.src, c.dst, c.shape);
      if (::testing::Test::HasFailure()) return;
    }
  });
}

}  // namespace
}  // namespace phi::distributed
