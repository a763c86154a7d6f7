// Reshards in a world of whatever size the launcher gives: on threads and under mpirun.
#include <gtest/gtest.h>

#include "distributed/reshard/execute.h"
#include "support/rank_launcher.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

using testing::all_placements;
using testing::check_reshard;
using testing::on_all_world_sizes;

void check_all_pairs(const ProcessMesh& from, const ProcessMesh& to,
                     const std::vector<Placement>& choices, const Dims& shape) {
  for (const auto& src : all_placements(from.ndim(), choices)) {
    for (const auto& dst : all_placements(to.ndim(), choices)) {
      check_reshard(TensorDistAttr::get(from, src), TensorDistAttr::get(to, dst), shape);
    }
  }
}

TEST(ReshardInAnyWorld, OneMesh) {
  on_all_world_sizes([](World& world) {
    const ProcessMesh mesh({world.size()});
    check_all_pairs(mesh, mesh,
                    {Replicate(), Shard(0), Shard(1), Partial(), Partial(ReduceKind::kMax)},
                    {5, 7});
  });
}

TEST(ReshardInAnyWorld, TwoMeshDims) {
  on_all_world_sizes([](World& world) {
    if (world.size() % 2 != 0) return;
    const ProcessMesh mesh({2, world.size() / 2});
    check_all_pairs(mesh, mesh, {Replicate(), Shard(0), Partial()}, {9, 2});
  });
}

TEST(ReshardInAnyWorld, FromTheFirstHalfToTheSecond) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    std::vector<int64_t> first;
    std::vector<int64_t> second;
    for (int64_t r = 0; r < world.size(); ++r) (r < world.size() / 2 ? first : second).push_back(r);
    const ProcessMesh from({int64_t(first.size())}, {}, first);
    const ProcessMesh to({int64_t(second.size())}, {}, second);
    check_all_pairs(from, to, {Replicate(), Shard(0), Partial()}, {5, 2});
    check_all_pairs(to, from, {Replicate(), Shard(1), Partial()}, {5, 2});
  });
}

// Messages of several megabytes, and the staged paths.
TEST(ReshardInAnyWorld, Large) {
  on_all_world_sizes([](World& world) {
    const ProcessMesh mesh({world.size()});
    const Dims shape{1023, 517};
    const DenseTensor whole = testing::made_up_local(
        shape, DataType::FLOAT32, TensorDistAttr::replicated(mesh), world.rank());
    DistTensor x = distribute(whole, TensorDistAttr::get(mesh, {Shard(0)}));
    for (const Placement& p : {Shard(1), Replicate(), Partial(), Shard(1), Partial(), Shard(0),
                               Partial(ReduceKind::kMax), Replicate()}) {
      x = reshard(x, TensorDistAttr::get(mesh, {p}));
    }
    EXPECT_EQ(testing::as_doubles(x.local()), testing::as_doubles(whole));
  });
}

}  // namespace
}  // namespace phi::distributed
