// Reshard against gather-then-slice: all pairs of placements on one mesh.
#include <gtest/gtest.h>

#include "distributed/reshard/execute.h"
#include "distributed/reshard/plan.h"
#include "support/rank_launcher.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

using testing::all_placements;
using testing::check_reshard;

// The ranks of `mesh` reshard from every list of placements to every other.
void check_all_pairs(const ProcessMesh& mesh, const std::vector<Placement>& choices,
                     const std::vector<Dims>& shapes) {
  const auto lists = all_placements(mesh.ndim(), choices);
  testing::on_ranks(mesh.size(), [&](World&) {
    for (const auto& from : lists) {
      for (const auto& to : lists) {
        for (const Dims& shape : shapes) {
          check_reshard(TensorDistAttr::get(mesh, from), TensorDistAttr::get(mesh, to), shape);
          if (::testing::Test::HasFailure()) return;
        }
      }
    }
  });
}

const std::vector<Placement> kEveryKind = {
    Replicate(),
    Shard(0),
    Shard(1),
    Partial(ReduceKind::kSum),
    Partial(ReduceKind::kAvg),
    Partial(ReduceKind::kMax),
    Partial(ReduceKind::kMin),
    Partial(ReduceKind::kProd),
    Partial(ReduceKind::kAny),
    Partial(ReduceKind::kAll),
};

TEST(Reshard1d, EveryPairOfPlacements) {
  check_all_pairs(ProcessMesh({4}), kEveryKind, {{8, 4}, {5, 7}, {2, 3}, {0, 4}, {4, 0}});
}

TEST(Reshard1d, MeshOfThree) {
  check_all_pairs(ProcessMesh({3}), {Replicate(), Shard(0), Shard(1), Partial()}, {{8, 4}, {1, 1}});
}

TEST(Reshard1d, MeshOfOne) { check_all_pairs(ProcessMesh({1}), kEveryKind, {{3, 2}}); }

TEST(Reshard2d, EveryPairWithSum) {
  check_all_pairs(ProcessMesh({2, 3}), {Replicate(), Shard(0), Shard(1), Partial()},
                  {{12, 6}, {5, 7}, {2, 2}, {0, 3}});
}

TEST(Reshard2d, EveryPairWithOrders) {
  check_all_pairs(ProcessMesh({2, 2}), {Replicate(), Shard(0, 0), Shard(0, 1), Partial()},
                  {{8}, {7}, {3}});
}

TEST(Reshard2d, EveryPairOfPartialKinds) {
  check_all_pairs(ProcessMesh({2, 2}),
                  {Replicate(), Shard(0), Partial(ReduceKind::kSum), Partial(ReduceKind::kMax),
                   Partial(ReduceKind::kAvg), Partial(ReduceKind::kProd)},
                  {{5, 2}});
}

TEST(Reshard3d, EveryPairWithSum) {
  check_all_pairs(ProcessMesh({2, 2, 2}), {Replicate(), Shard(0), Shard(1), Partial()}, {{9, 5}});
}

TEST(Reshard3d, EveryPairWithOrders) {
  check_all_pairs(ProcessMesh({2, 1, 3}), {Replicate(), Shard(0, 0), Shard(0, 2), Shard(0, 1)},
                  {{14}});
}

TEST(Reshard3d, ThreeTensorDims) {
  check_all_pairs(ProcessMesh({2, 2}), {Replicate(), Shard(0), Shard(1), Shard(2), Partial()},
                  {{3, 4, 5}, {2, 0, 3}});
}

TEST(Reshard, Scalar) {
  check_all_pairs(ProcessMesh({2, 2}),
                  {Replicate(), Partial(ReduceKind::kSum), Partial(ReduceKind::kMin)}, {{}});
}

TEST(Reshard, EveryDtype) {
  const ProcessMesh mesh({3});
  const auto lists = all_placements(1, {Replicate(), Shard(0), Shard(1), Partial(ReduceKind::kSum),
                                        Partial(ReduceKind::kMax), Partial(ReduceKind::kAny)});
  testing::on_ranks(3, [&](World&) {
    for (DataType dtype : {DataType::INT32, DataType::INT64, DataType::FLOAT16, DataType::BFLOAT16,
                           DataType::FLOAT64}) {
      for (const auto& from : lists) {
        for (const auto& to : lists) {
          check_reshard(TensorDistAttr::get(mesh, from), TensorDistAttr::get(mesh, to), {7, 4},
                        dtype);
        }
      }
    }
  });
}

TEST(Reshard, LargeTensorsTakeTheTwoRoundAllReduce) {
  check_all_pairs(ProcessMesh({3}), {Replicate(), Partial(), Shard(1)}, {{301, 257}});
}

}  // namespace
}  // namespace phi::distributed
