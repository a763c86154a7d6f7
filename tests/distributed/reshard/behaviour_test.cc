// Behaviour that other frameworks are known to get wrong, by name (reference dist_api_semantics,
// sections 8 and 9), and what reshard promises besides values.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/comm/messages.h"
#include "distributed/reshard/execute.h"
#include "distributed/reshard/plan.h"
#include "support/error_matchers.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

using testing::as_doubles;
using testing::check_reshard;
using ::testing::Each;
using ::testing::ElementsAre;

ProcessMesh mesh_of(const std::vector<int64_t>& ranks) {
  return ProcessMesh({static_cast<int64_t>(ranks.size())}, {}, ranks);
}

DenseTensor range(const Dims& dims) {
  DenseTensor x = DenseTensor::empty({dims, DataType::FLOAT32}, CPUPlace());
  for (int64_t i = 0; i < x.numel(); ++i) x.mutable_data<float>()[i] = float(i + 1);
  return x;
}

DenseTensor gathered(const DistTensor& x) {
  return reshard(x, TensorDistAttr::replicated(x.mesh())).local();
}

// Section 8.1: pieces of 6 and 5 rows over 4 ranks; a rank may hold nothing.
TEST(Semantics, Uneven_ShardToShard_WithAnEmptyPart) {
  const ProcessMesh mesh({4});
  run_ranks(4, [&](World&) {
    for (int64_t rows : {10, 6, 5, 3, 1, 0}) {
      check_reshard(TensorDistAttr::get(mesh, {Shard(0)}), TensorDistAttr::get(mesh, {Shard(1)}),
                    {rows, 7});
      check_reshard(TensorDistAttr::get(mesh, {Shard(0)}), TensorDistAttr::replicated(mesh),
                    {rows, 2});
      check_reshard(TensorDistAttr::get(mesh, {Partial()}), TensorDistAttr::get(mesh, {Shard(0)}),
                    {rows, 2});
    }
  });
}

TEST(Semantics, Uneven_1001RowsOver2Ranks) {
  const ProcessMesh mesh({2});
  run_ranks(2, [&](World&) {
    check_reshard(TensorDistAttr::get(mesh, {Shard(0)}), TensorDistAttr::replicated(mesh),
                  {1001, 3});
  });
}

TEST(Semantics, EmptyShardOnAComputingRankIsResident) {
  const ProcessMesh mesh({4});
  run_ranks(4, [&](World& world) {
    const DistTensor x = distribute(range({2}), TensorDistAttr::get(mesh, {Shard(0)}));
    EXPECT_TRUE(x.initialized());
    EXPECT_EQ(x.local().numel(), world.rank() < 2 ? 1 : 0);
    EXPECT_TRUE(reshard(x, TensorDistAttr::replicated(mesh)).initialized());
  });
}

// Section 8.2: the kind of a reduction is carried, and other ranks get its identity element.
TEST(Semantics, PartialToShard_IsReducedByItsOwnKind) {
  const ProcessMesh mesh({4});
  run_ranks(4, [&](World&) {
    for (ReduceKind kind :
         {ReduceKind::kMax, ReduceKind::kMin, ReduceKind::kAvg, ReduceKind::kProd}) {
      check_reshard(TensorDistAttr::get(mesh, {Partial(kind)}),
                    TensorDistAttr::get(mesh, {Shard(0)}), {7, 2});
    }
  });
}

// Sums of these do not fit into int64.
TEST(Semantics, AveragesOfLargeIntegersAreExact) {
  constexpr int64_t kMost = std::numeric_limits<int64_t>::max();
  const auto average = Partial(ReduceKind::kAvg);
  const std::pair<ProcessMesh, std::vector<Placement>> rows[] = {
      {ProcessMesh({4}), {average}}, {ProcessMesh({2, 2}), {average, average}}};
  for (const auto& [mesh, placements] : rows) {
    run_ranks(4, [&, &mesh = mesh, &placements = placements](World& world) {
      const std::vector<int64_t> own(3, world.rank() == 3 ? kMost - 4 : kMost);
      const DistTensor x({{3}, DataType::INT64}, TensorDistAttr::get(mesh, placements),
                         DenseTensor::from<int64_t>(own, {3}));
      for (const auto* attr :
           {TensorDistAttr::replicated(mesh), TensorDistAttr::replicated(mesh_of({1, 2}))}) {
        const DistTensor y = reshard(x, attr);
        if (!y.initialized()) continue;
        EXPECT_THAT(y.local().values<int64_t>(), Each(kMost - 1));
      }
    });
  }
}

TEST(Semantics, ReplicateToPartial_FillsWithTheIdentityElement) {
  const ProcessMesh mesh({2});
  constexpr double kInf = std::numeric_limits<double>::infinity();
  const std::pair<ReduceKind, double> rows[] = {{ReduceKind::kSum, 0},     {ReduceKind::kProd, 1},
                                                {ReduceKind::kMax, -kInf}, {ReduceKind::kMin, kInf},
                                                {ReduceKind::kAny, 0},     {ReduceKind::kAll, 1}};
  run_ranks(2, [&](World& world) {
    const DistTensor x = distribute(range({3}), TensorDistAttr::replicated(mesh));
    for (const auto& [kind, identity] : rows) {
      const DistTensor y = reshard(x, TensorDistAttr::get(mesh, {Partial(kind)}));
      EXPECT_EQ(y.attr()->placement(0).reduce(), kind);
      if (world.rank() == 0) {
        EXPECT_THAT(as_doubles(y.local()), ElementsAre(1, 2, 3));
      }
      if (world.rank() == 1) {
        EXPECT_THAT(as_doubles(y.local()), Each(identity));
      }
    }
    const DistTensor average = reshard(x, TensorDistAttr::get(mesh, {Partial(ReduceKind::kAvg)}));
    EXPECT_THAT(as_doubles(average.local()), ElementsAre(1, 2, 3)) << "avg: all keep";
  });
}

TEST(Semantics, PartialToPartialOfAnotherKind) {
  const ProcessMesh mesh({3});
  run_ranks(3, [&](World&) {
    check_reshard(TensorDistAttr::get(mesh, {Partial(ReduceKind::kSum)}),
                  TensorDistAttr::get(mesh, {Partial(ReduceKind::kAvg)}), {5});
    check_reshard(TensorDistAttr::get(mesh, {Partial(ReduceKind::kMax)}),
                  TensorDistAttr::get(mesh, {Partial(ReduceKind::kMin)}), {5});
  });
}

TEST(Semantics, ShrinkToOneRank_OfPartialMax) {
  run_ranks(4, [](World&) {
    check_reshard(TensorDistAttr::get(ProcessMesh({4}), {Partial(ReduceKind::kMax)}),
                  TensorDistAttr::replicated(mesh_of({3})), {5, 2});
  });
}

// Section 8.3: the same rank at the same position in both meshes; ranks that do not start at 0.
TEST(Semantics, CrossMesh_TheSameRankAtTheSamePosition) {
  run_ranks(3, [](World&) {
    check_reshard(TensorDistAttr::get(mesh_of({0, 1}), {Shard(0)}),
                  TensorDistAttr::get(mesh_of({0, 2}), {Shard(0)}), {5, 2});
  });
}

TEST(Semantics, CrossMesh_RanksAreNotPositions) {
  run_ranks(6, [](World&) {
    check_reshard(TensorDistAttr::get(mesh_of({5, 3}), {Shard(0)}),
                  TensorDistAttr::replicated(mesh_of({2})), {5, 2});
    check_reshard(TensorDistAttr::replicated(mesh_of({4})),
                  TensorDistAttr::get(mesh_of({5, 1, 3}), {Partial()}), {5, 2});
  });
}

TEST(Semantics, CrossMesh_OfDifferentSizeIsNotAnError) {
  run_ranks(4, [](World&) {
    check_reshard(TensorDistAttr::get(ProcessMesh({4}), {Shard(0)}),
                  TensorDistAttr::get(ProcessMesh({2}), {Shard(0)}), {6});
  });
}

TEST(Semantics, GlobalMeshToItsSliceMovesNothing) {
  const ProcessMesh mesh({2, 2}, {"pp", "tp"});
  run_ranks(4, [&](World& world) {
    const DistTensor x =
        distribute(range({4, 2}), TensorDistAttr::get(mesh, {Replicate(), Shard(0)}));
    const DistTensor y = reshard(x, TensorDistAttr::get(mesh.slice(0, 1), {Shard(0)}));
    EXPECT_EQ(world.rank_context().counters().bytes_sent, 0);
    EXPECT_EQ(world.rank_context().counters().bytes_received, 0);
    EXPECT_EQ(y.initialized(), world.rank() >= 2);
  });
}

TEST(Semantics, RankOutsideTheTargetIsClipped_AndReadingSaysWhy) {
  run_ranks(2, [](World& world) {
    const DistTensor x = distribute(range({4}), TensorDistAttr::get(mesh_of({0}), {Replicate()}));
    const DistTensor y = reshard(x, TensorDistAttr::replicated(mesh_of({1})));
    EXPECT_EQ(y.meta(), x.meta());
    if (world.rank() == 1) {
      EXPECT_THAT(as_doubles(y.local()), ElementsAre(1, 2, 3, 4));
    }
    if (world.rank() == 1) return;
    EXPECT_EQ(y.nbytes_here(), 0u);
    EXPECT_THAT([&] { (void)y.local().data<float>(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "outside the tensor's mesh"));
  });
}

// Section 10, 8: errors are alike on all ranks, before anybody communicates.
TEST(Semantics, AnAttrThatDoesNotFitFailsAlikeOnAllRanks) {
  const ProcessMesh mesh({2});
  run_ranks(4, [&](World& world) {
    const DistTensor x =
        world.rank() < 2
            ? distribute(range({4}), TensorDistAttr::get(mesh, {Shard(0)}))
            : DistTensor::clipped({{4}, DataType::FLOAT32}, TensorDistAttr::get(mesh, {Shard(0)}),
                                  CPUPlace(), nullptr);
    EXPECT_THAT(
        [&] {
          reshard(x, TensorDistAttr::get(mesh_of({1, 2}), {Shard(1)}));
        },
        ThrowsError(ErrorCode::kInvalidArgument, "[reshard]"));
    EXPECT_EQ(world.everyone().calls(), 0u);
  });
}

TEST(Reshard, EqualAttrsReturnTheTensorItself) {
  const ProcessMesh mesh({2});
  run_ranks(2, [&](World& world) {
    const auto* attr = TensorDistAttr::get(mesh, {Shard(0)});
    const DistTensor x = distribute(range({4}), attr);
    EXPECT_EQ(reshard(x, attr).local().raw_data(), x.local().raw_data());
    EXPECT_EQ(world.rank_context().counters().reshard_steps, 0);
  });
}

TEST(Reshard, ThereAndBackIsTheSame) {
  const ProcessMesh mesh({2, 2});
  run_ranks(4, [&](World&) {
    const auto* a = TensorDistAttr::get(mesh, {Shard(1), Shard(0)});
    const auto* b = TensorDistAttr::get(mesh, {Shard(0, 1), Shard(0, 0)});
    const DistTensor x = distribute(range({5, 3}), a);
    const DistTensor y = reshard(reshard(x, b), a);
    EXPECT_EQ(as_doubles(y.local()), as_doubles(x.local()));
    EXPECT_EQ(as_doubles(gathered(x)), as_doubles(range({5, 3})));
  });
}

TEST(Reshard, EveryRankOfAGroupIssuesTheSameCalls) {
  const ProcessMesh mesh({2, 2});
  const auto lists = testing::all_placements(2, {Replicate(), Shard(0), Shard(1), Partial()});
  run_ranks(4, [&](World& world) {
    world.enable_call_log();
    for (const auto& from : lists) {
      for (const auto& to : lists) {
        const DistTensor x = distribute(range({5, 3}), TensorDistAttr::get(mesh, from));
        reshard(x, TensorDistAttr::get(mesh, to));
      }
    }
    // Per group: the number of calls and a digest of what they were.
    std::vector<int64_t> digest(16 * 16, 0);
    for (const LoggedCall& call : world.call_log()) {
      size_t members = 0;
      for (int64_t rank : call.group) members |= size_t{1} << rank;
      digest[members] = digest[members] * 31 + static_cast<int64_t>(call.op) + 1;
      digest[members] %= 1'000'003;
    }
    std::vector<int64_t> all(digest.size() * 4);
    world.everyone().all_gather(digest.data(), all.data(), int64_t(digest.size()), DataType::INT64);
    for (size_t members = 1; members < 16; ++members) {
      for (size_t rank = 0; rank < 4; ++rank) {
        if ((members >> rank & 1) == 0 || (members >> world.rank() & 1) == 0) continue;
        EXPECT_EQ(all[rank * digest.size() + members], digest[members]);
      }
    }
  });
}

TEST(Reshard, AReduceScatterHoldsItsResultAndWhatArrives) {
  const ProcessMesh mesh({2});
  run_ranks(2, [&](World&) {
    const Dims dims{1 << 16};
    const DistTensor x(TensorMeta{dims, DataType::FLOAT32}, TensorDistAttr::get(mesh, {Partial()}),
                       range(dims));
    reset_memory_peak(CPUPlace());
    const int64_t before = memory_stats(CPUPlace()).current;
    const DistTensor y = reshard(x, TensorDistAttr::get(mesh, {Shard(0)}));
    const auto arriving = static_cast<int64_t>(x.local().nbytes());  // in one slice
    EXPECT_EQ(memory_stats(CPUPlace()).peak - before,
              static_cast<int64_t>(y.local().nbytes()) + arriving);
  });
}

// A backend with a library of collectives: what its group does by that is what reshards call.
class OwnGroup final : public Group {
 public:
  OwnGroup(Communicator& communicator, std::vector<int64_t> ranks, int64_t position, uint64_t hash)
      : Group(communicator, std::move(ranks), position, hash) {}
  int calls_of_its_own = 0;

 private:
  bool run_by_library(const CollectiveCall& call, const void* in, void* out,
                      std::span<const int64_t> counts) override {
    EXPECT_EQ(call.op, CommOp::kAllReduce);
    EXPECT_EQ(call.reduce, ReduceKind::kSum);
    EXPECT_THAT(counts, ElementsAre(2, 2));
    std::memcpy(out, in, static_cast<size_t>(call.count) * size_of(call.dtype));
    ++calls_of_its_own;
    return true;
  }
};

class OwnCommunicator final : public Communicator {
 public:
  explicit OwnCommunicator(World& world) : Communicator(world) {}
  OwnGroup* made = nullptr;

 private:
  std::unique_ptr<Group> make_group(std::vector<int64_t> ranks, int64_t position,
                                    uint64_t hash) override {
    auto group = std::make_unique<OwnGroup>(*this, std::move(ranks), position, hash);
    made = group.get();
    return group;
  }
};

TEST(Reshard, ABackendsOwnGroupIsCalled) {
  World world(std::make_shared<RankContext>(0, 2), std::make_unique<DryTransport>(0, 2));
  auto owned = std::make_unique<OwnCommunicator>(world);
  const OwnCommunicator& communicator = *owned;
  world.set_device_communicator(std::move(owned));
  const World::Scope scope(world);
  const ProcessMesh mesh({2});
  const DistTensor x(TensorMeta{{4}, DataType::FLOAT32}, TensorDistAttr::get(mesh, {Partial()}),
                     range({4}));
  const DistTensor y = reshard(x, TensorDistAttr::replicated(mesh));
  ASSERT_NE(communicator.made, nullptr);
  EXPECT_EQ(communicator.made->calls_of_its_own, 1);
  // As messages would: half of it to be reduced there, and the reduced half.
  EXPECT_EQ(world.rank_context().counters().bytes_sent, 16);
  EXPECT_EQ(world.rank_context().counters().bytes_received, 16);
  EXPECT_THAT(as_doubles(y.local()), ElementsAre(1, 2, 3, 4));
}

TEST(Distribute, PartialKeepsTheValueOnTheFirstRank) {
  const ProcessMesh mesh({2, 2});
  run_ranks(4, [&](World&) {
    const auto* attr = TensorDistAttr::get(mesh, {Partial(ReduceKind::kProd), Partial()});
    EXPECT_EQ(as_doubles(gathered(distribute(range({3}), attr))), as_doubles(range({3})));
  });
}

// Rank 1 never starts it; the report of the one who waits says so.
TEST(Reshard, OneThatTheSenderNeverStartsIsReported) {
  const auto late = [](World& world) {
    const DistTensor x =
        DistTensor::empty({{4}, DataType::FLOAT32}, TensorDistAttr::replicated(mesh_of({1})),
                          CPUPlace(), world.rank());
    if (world.rank() == 0) start_reshard(x, TensorDistAttr::replicated(mesh_of({0}))).wait();
  };
  EXPECT_THAT(
      [&] { run_ranks(2, late, std::chrono::milliseconds(50)); },
      ThrowsError(ErrorCode::kUnavailable,
                  "Rank 1 has left the job without exchange #1 of group {0,1} (f32[4], 16 bytes, "
                  "from reshard)"));
}

// A dry run asks one rank of a large job what it would move; no tensor has bytes.
TEST(DryRun, CountsWithoutBytes) {
  DryWorld world(7, 4096);
  const World::Scope scope(world);
  const ProcessMesh mesh({4096});
  const TensorMeta meta{{8192, 1024}, DataType::FLOAT32};
  const auto* src = TensorDistAttr::get(mesh, {Shard(0)});
  auto nothing = Storage::placeholder(CPUPlace(), {nullptr, "a dry run,"});
  TensorMeta local = meta;
  local.dims[0] = 2;
  const DistTensor x(meta, src, DenseTensor(local, nothing));
  const DistTensor y = reshard(x, TensorDistAttr::replicated(mesh));
  EXPECT_EQ(world.rank_context().counters().bytes_received, (8192 - 2) * 1024 * 4);
  EXPECT_EQ(y.local().dims(), meta.dims);
  EXPECT_EQ(y.nbytes_here(), 0u);
}

}  // namespace
}  // namespace phi::distributed
