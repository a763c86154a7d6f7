// A step's boxes on GPUs, the emulator's: those that do not lie in one piece are packed by one
// launch and placed by another, those that do travel as they lie.
#include <gtest/gtest.h>

#include <atomic>

#include "distributed/reshard/execute.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/rank_launcher.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

constexpr int64_t kRanks = 4;

// Kernels that the ranks launch together, from one placement to another.
uint64_t launches_of(const Placement& from, const Placement& to, const Dims& shape) {
  std::atomic<uint64_t> before{0};
  std::atomic<uint64_t> after{0};
  testing::on_ranks(kRanks, [&](World& world) {
    Communicator& communicator = world.communicator(world.rank_context().place());
    const ProcessMesh mesh({kRanks});
    const DenseTensor whole = testing::made_up_local(
        shape, DataType::FLOAT32, TensorDistAttr::replicated(mesh), world.rank());
    DistTensor x = distribute(whole, TensorDistAttr::get(mesh, {from}));
    communicator.device().wait();
    communicator.everyone().barrier();
    before = cuda_on_cpu::launches();
    communicator.everyone().barrier();
    x = reshard(x, TensorDistAttr::get(mesh, {to}));
    communicator.device().wait();
    communicator.everyone().barrier();
    after = cuda_on_cpu::launches();
    communicator.everyone().barrier();
    testing::check_reshard(TensorDistAttr::get(mesh, {from}), TensorDistAttr::get(mesh, {to}),
                           shape);
  });
  return after - before;
}

TEST(Packing, OneLaunchForAllThatLeavesAndOneForAllThatArrives) {
  EXPECT_EQ(launches_of(Shard(0), Shard(1), {8, 12}), 2 * kRanks);
  EXPECT_EQ(launches_of(Shard(1), Shard(2), {8, 12, 16}), 2 * kRanks);
}

TEST(Packing, NoneForPiecesThatLieTogether) {
  EXPECT_EQ(launches_of(Shard(0), Replicate(), {8, 12}), 1 * kRanks);  // the own one to its place
}

}  // namespace
}  // namespace phi::distributed
