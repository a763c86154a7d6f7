// Paddle's words for distributed tensors: from functions and parts, to parts and whole values, and
// the mesh that is meant where none is named.
#include <gmock/gmock.h>

#include "api/generated/ops/full.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/tensor_api.h"
#include "tests/api/tensor/finite_differences.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rank_launcher.h"

namespace phi {
namespace {

using distributed::dtensor_from_fn;
using distributed::dtensor_from_local;
using distributed::dtensor_to_local;
using distributed::get_mesh;
using distributed::has_mesh;
using distributed::Partial;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::set_mesh;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::unshard_dtensor;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::Each;
using ::testing::ElementsAre;

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
Tensor values(const Dims& shape) { return deferred_gaussian(shape, 0.0f, 1.0f, 5); }

TEST(DtensorFromFn, EachRankMakesItsPartAlone) {
  on_ranks(4, [](World& world) {
    const ProcessMesh mesh({2, 2}, {"a", "b"});
    reset_memory_peak(CPUPlace());
    const int64_t before = memory_stats(CPUPlace()).peak;
    const Tensor x = dtensor_from_fn(deferred_gaussian, mesh, {Shard(0), Shard(1)}, Dims{512, 512},
                                     0.0f, 1.0f, uint64_t{5}, DataType::FLOAT32);
    EXPECT_EQ(x.local().shape(), (Dims{256, 256}));
    EXPECT_EQ(memory_stats(CPUPlace()).peak - before, 256 * 256 * 4) << world.rank();
    EXPECT_EQ(floats(unshard_dtensor(x)), floats(values({512, 512}) * 1));
    const Tensor y = dtensor_from_fn([] { return full({3}, 2.0f); }, mesh, {Shard(0)});
    EXPECT_THAT(floats(unshard_dtensor(y)), ElementsAre(2, 2, 2));
  });
}

// Every placement of one and two mesh dims, uneven, on some ranks of the job: its parts make it.
TEST(DtensorFromLocal, PartsMakeTheTensorThatTheyAreOf) {
  on_ranks(4, [](World& world) {
    const ProcessMesh row({3}, {"x"}, {3, 0, 1}), grid({2, 2}, {"x", "y"});
    const std::pair<ProcessMesh, std::vector<Placement>> rows[] = {
        {row, {Replicate()}},
        {row, {Shard(0)}},
        {row, {Shard(1)}},
        {row, {Partial()}},
        {grid, {Shard(0), Shard(1)}},
        {grid, {Shard(1), Replicate()}},
        {grid, {Shard(0), Shard(0)}},
        {grid, {Shard(0, 1), Shard(0, 0)}},
        {grid, {Partial(), Shard(1)}},
    };
    for (const auto& [mesh, placements] : rows) {
      for (const Dims& shape : {Dims{5, 4}, Dims{2, 3}, Dims{0, 3}}) {
        const Tensor x = shard_tensor(values(shape), mesh, placements);
        const Tensor part = mesh.contains(world.rank()) ? x.local() : Tensor();
        const Tensor again = dtensor_from_local(part, mesh, placements);
        EXPECT_EQ(again.shape(), shape) << x.to_string();
        EXPECT_EQ(again.dist_attr(), x.dist_attr());
        EXPECT_EQ(floats(unshard_dtensor(again)), floats(unshard_dtensor(x))) << x.to_string();
      }
    }
  });
}

TEST(DtensorFromLocal, PartsThatMakeNoTensorAreRefusedOnEveryRank) {
  on_ranks(3, [](World& world) {
    const ProcessMesh mesh({2}, {"x"}, {0, 2});
    const auto rank = world.rank();
    const auto refused = [&](const Tensor& part, const Placement& placement, const char* text) {
      EXPECT_THAT([&] { dtensor_from_local(part, mesh, {placement}); },
                  ThrowsError(ErrorCode::kInvalidArgument, text));
    };
    // The second rank has more than the first.
    refused(full({rank == 0 ? 2 : 3, 4}, 1.0f), Shard(0),
            "the local parts of all ranks form [5,4] [S0] on mesh(x=2; ranks 0,2), of which rank 0 "
            "stores [3,4], but it passes [2,4]");
    refused(full({2, rank == 0 ? 4 : 3}, 1.0f), Shard(0),
            "of which rank 2 stores [2,4], but it passes [2,3]");
    refused(full({rank == 0 ? 2 : 1}, 1.0f), Replicate(), "of which rank 2 stores [2]");
    refused(full({2}, 1, rank == 0 ? DataType::FLOAT32 : DataType::INT64), Shard(0),
            "rank 0 passes f32[2] and rank 2 passes i64[2]");
    refused(rank == 0 ? full({2}, 1.0f) : full({2, 1}, 1.0f), Shard(0), "rank 2 passes f32[2,1]");
    refused(rank == 2 ? Tensor() : full({2}, 1.0f), Shard(0), "rank 2 of mesh");
    refused(full({2}, 1.0f), Shard(1),
            "shards tensor dim 1 over mesh dim 'x', but the tensor [2] has 1 dims");
    Tensor tracked = full({2}, 1.0f);
    if (rank == 0) tracked.set_requires_grad();
    refused(tracked, Shard(0), "rank 0 passes f32[2] with a gradient and rank 2 passes f32[2]: ");
    // The job goes on.
    EXPECT_EQ(dtensor_from_local(full({rank == 0 ? 3 : 2}, 1.0f), mesh, {Shard(0)}).shape(),
              Dims{5});
  });
}

TEST(DtensorFromLocal, IsRefusedInACapturedProgram) {
  const ProcessMesh mesh({1}, {"x"});
  const auto f = [&](const TensorList& in) {
    return TensorList{dtensor_from_local(in[0], mesh, {Shard(0)})};
  };
  EXPECT_THAT([&] { capture(f, {full({2}, 1.0f)}); },
              ThrowsError(ErrorCode::kUnimplemented, "use from_local with the global shape"));
}

TEST(DtensorFromLocal, InADryRunEveryRankHasAsMuch) {
  distributed::DryWorld world(1, 4);
  const World::Scope scope(world);
  const Tensor x = dtensor_from_local(full({2, 3}, 1.0f), ProcessMesh({4}, {"x"}), {Shard(0)});
  EXPECT_EQ(x.shape(), (Dims{8, 3}));
}

// A program of each rank's own between the words.
Tensor through_parts(const Tensor& x, const ProcessMesh& mesh, const Placement& placement) {
  const Tensor from = shard_tensor(x, mesh, {Replicate()});
  const Tensor part = dtensor_to_local(from, mesh, {placement});
  const Tensor made = square(part) * part * (distributed::rank() + 1.0);
  const Tensor whole = unshard_dtensor(dtensor_from_local(made, mesh, {placement}));
  return sum(square(whole));
}

TEST(Dtensors, GradientsAreFiniteDifferences) {
  for (const int64_t ranks : {2, 4}) {
    on_ranks(ranks, [&](World&) {
      const ProcessMesh mesh({ranks}, {"x"});
      for (const Placement& placement : {Shard(0), Shard(1)}) {
        testing::expect_finite_differences(
            [&](const Tensor& x) { return through_parts(x, mesh, placement); },
            {0.5, -1, 0.75, 0.25, -0.5, 1.25}, {3, 2});
      }
    });
  }
}

TEST(DtensorFromLocal, GradientsReachPartsWhereARankIsOutside) {
  on_ranks(3, [](World& world) {
    const ProcessMesh mesh({2}, {"x"}, {0, 2});
    Tensor part;
    if (mesh.contains(world.rank())) {
      part = full({world.rank() == 0 ? 2 : 1}, 3.0f);
      part.set_requires_grad();
    }
    sum(square(dtensor_from_local(part, mesh, {Shard(0)}))).backward();
    if (part.defined()) {
      EXPECT_THAT(floats(part.grad()), Each(6));
    }
  });
}

TEST(DtensorToLocal, OfPlainTensorsAndLostGradientsIsRefused) {
  on_ranks(2, [](World&) {
    const ProcessMesh mesh({2}, {"x"});
    EXPECT_THAT([&] { dtensor_to_local(full({2}, 1.0f), mesh, {Shard(0)}); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "is plain; use shard_tensor"));
    EXPECT_THAT([&] { unshard_dtensor(full({2}, 1.0f)); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "is plain"));
    Tensor x = shard_tensor(full({2}, 1.0f), mesh, {Shard(0)});
    EXPECT_THAT(floats(dtensor_to_local(x, mesh, {Replicate()})), ElementsAre(1, 1));
    x.set_requires_grad();
    EXPECT_THAT(
        [&] { dtensor_to_local(x, mesh, {Replicate()}); },
        ThrowsError(ErrorCode::kPreconditionNotMet, "requires a gradient, but is not sharded"));
  });
}

TEST(Mesh, IsMeantWhereNoneIsNamedOnTheRankThatSetIt) {
  on_ranks(2, [](World& world) {
    EXPECT_FALSE(has_mesh());
    EXPECT_THAT([] { get_mesh(); },
                ThrowsError(ErrorCode::kPreconditionNotMet,
                            "no mesh is passed, and rank " + std::to_string(distributed::rank())));
    EXPECT_THAT([] { shard_tensor(full({4}, 1.0f), {Shard(0)}); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "[shard_tensor] no mesh is passed"));
    const ProcessMesh mesh({2}, {"x"});
    set_mesh(mesh);
    EXPECT_EQ(get_mesh(), mesh);
    const Tensor x = shard_tensor(full({4}, 1.0f), {Shard(0)});
    EXPECT_EQ(x.mesh(), mesh);
    EXPECT_EQ(x.local().shape(), Dims{2});
    EXPECT_EQ(distributed::reshard(x, {Replicate()}).local().shape(), Dims{4});
    const ProcessMesh own({1}, {"x"}, {world.rank()});
    set_mesh(own);  // a rank's is its own
    EXPECT_EQ(get_mesh(), own);
    set_mesh(ProcessMesh());
    EXPECT_THAT([&] { distributed::reshard(x, {Replicate()}); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "[reshard] no mesh is passed"));
  });
  EXPECT_FALSE(has_mesh());
}

}  // namespace
}  // namespace phi
