// Histories of tensors that leave their mesh: parts of one rank, and whole values on all ranks.
#include <gmock/gmock.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::from_local;
using distributed::gathered_everywhere;
using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::Each;
using ::testing::ElementsAre;

Tensor leaf(std::vector<float> values) {
  const auto n = static_cast<int64_t>(values.size());
  Tensor x = Tensor::from<float>(values, {n});
  x.set_requires_grad();
  return x;
}

// Two of three ranks, which hold 3 and 2 of 5 elements.
ProcessMesh pair() { return ProcessMesh({2}, {"x"}, {0, 2}); }
bool in_pair() { return distributed::rank() != 1; }

// What an operator keeps of a gathered value for its gradient is gathered again.
TEST(Pending, GradientsGoThroughWhatWasGathered) {
  run_ranks(3, [](distributed::World&) {
    const Tensor whole = leaf({1, 2, 3, 4, 5});
    const Tensor x = shard_tensor(whole, pair(), {Shard(0)});
    auto pending = distributed::start_reshard(x, pair(), {Replicate()});
    sum(square(pending.wait())).backward();
    EXPECT_THAT(whole.grad().to_vector<float>(), ElementsAre(2, 4, 6, 8, 10));
  });
}

TEST(Local, GradientsGoThroughThePartsOfRanks) {
  run_ranks(3, [](distributed::World&) {
    const Placement rows[] = {Shard(0)};
    const Tensor whole = leaf({1, 2, 3, 4, 5});
    const Tensor x = shard_tensor(whole, pair(), rows);
    const Tensor part = x.local();
    EXPECT_TRUE(part.requires_grad());
    // A program of the rank's own, where it has a part.
    const Tensor made = in_pair() ? scale(square(part), distributed::rank() + 1.0) : part;
    sum(from_local(made, {5}, pair(), rows)).backward();
    EXPECT_THAT(whole.grad().to_vector<float>(), ElementsAre(2, 4, 6, 24, 30));
  });
}

TEST(Local, SeveralMeshDimsMayShardATensor) {
  run_ranks(4, [](distributed::World&) {
    const ProcessMesh grid({2, 2}, {"x", "y"});
    for (const auto& placements : {std::vector{Shard(0), Shard(1)}, {Shard(0), Shard(0)}}) {
      Tensor x = shard_tensor(full({3, 3}, 2.0f), grid, placements);
      x.set_requires_grad();
      sum(from_local(square(x.local()), {3, 3}, grid, placements)).backward();
      EXPECT_EQ(x.grad().dist_attr(), x.dist_attr());
      EXPECT_THAT(x.grad().to_vector<float>(), Each(4));
    }
  });
}

TEST(Local, WithoutAHistoryAnyPlacementWillDo) {
  run_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"x"});
    Tensor x = shard_tensor(full({4}, 1.0f), mesh, {Replicate()});
    EXPECT_FALSE(x.local().requires_grad());
    x.set_requires_grad();
    EXPECT_FALSE(x.detach().local().requires_grad());
    EXPECT_THAT(x.values<float>(), Each(1));
    const NoGrad no_grad;
    EXPECT_FALSE(x.local().requires_grad());
  });
}

TEST(Local, OfCopiesOrPartialSumsIsRefusedWhereItWouldLoseTheHistory) {
  run_ranks(3, [](distributed::World&) {
    for (const Placement& placement : {Replicate(), Partial()}) {
      Tensor x = shard_tensor(full({4}, 1.0f), pair(), {placement});
      x.set_requires_grad();
      EXPECT_THAT([&] { x.local(); },
                  ThrowsError(ErrorCode::kPreconditionNotMet,
                              "[local] " + x.to_string() +
                                  " requires a gradient, but is not sharded over mesh dim x"));
    }
    const ProcessMesh alone({1}, {"x"}, {2});
    Tensor x = shard_tensor(full({4}, 1.0f), alone, {Replicate()});
    x.set_requires_grad();
    EXPECT_TRUE(x.local().requires_grad());
  });
}

TEST(GatheredEverywhere, GradientsGoBackToWhereTheTensorLies) {
  run_ranks(3, [](distributed::World&) {
    for (const Placement& placement : {Shard(0), Replicate(), Partial()}) {
      Tensor x = shard_tensor(Tensor::from<float>({1, 2, 3, 4, 5}, {5}), pair(), {placement});
      x.set_requires_grad();
      const Tensor whole = gathered_everywhere(x);
      EXPECT_FALSE(whole.is_dist());
      sum(multiply(square(whole), whole)).backward();  // plain, on every rank alike
      const Tensor grad = gathered_everywhere(x.grad());
      EXPECT_THAT(grad.to_vector<float>(), ElementsAre(3, 12, 27, 48, 75)) << placement.to_string();
      EXPECT_EQ(x.grad().initialized(), in_pair());
    }
  });
}

TEST(GatheredEverywhere, OnAMeshOfTheWholeJobToo) {
  run_ranks(2, [](distributed::World&) {
    const Tensor leaf_ = leaf({1, 2, 3});
    const Tensor x = shard_tensor(leaf_, ProcessMesh({2}, {"x"}), {Shard(0)});
    sum(square(gathered_everywhere(x))).backward();
    EXPECT_THAT(leaf_.grad().to_vector<float>(), ElementsAre(2, 4, 6));
    const NoGrad no_grad;
    EXPECT_FALSE(gathered_everywhere(x).requires_grad());
  });
}

// Both ranks refuse it at once, also the one that is not in it.
TEST(Mesh, OfARankThatDoesNotExistIsRefusedWhereItIsFirstUsed) {
  run_ranks(2, [](distributed::World&) {
    const Placement rows[] = {Shard(0)};
    const ProcessMesh mesh({2}, {"x"}, {0, 5});
    const std::string fault = "but the job has 2 ranks";
    const Tensor x = leaf({1, 2, 3, 4});
    const auto refused = [&](const std::function<void()>& use) {
      EXPECT_THAT(use, ThrowsError(ErrorCode::kInvalidArgument, fault));
    };
    refused([&] { shard_tensor(x, mesh, rows); });
    refused([&] { from_local(x, {8}, mesh, rows); });
    refused([&] { distributed::dtensor_from_local(x, mesh, rows); });
    refused([&] { distributed::set_mesh(mesh); });
    const Tensor here = shard_tensor(x, ProcessMesh({2}), rows);
    refused([&] { distributed::reshard(here, ProcessMesh({3}), rows); });
    refused([&] { distributed::start_reshard(here, mesh, rows); });
  });
}

}  // namespace
}  // namespace phi
