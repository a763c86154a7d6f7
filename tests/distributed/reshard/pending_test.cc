// Reshards that are started and waited for later: the same values as reshard in any order of waits,
// and bytes that are held exactly as long as messages need them. On threads and under mpirun.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>
#include <random>
#include <thread>

#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "distributed/reshard/plan.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

using testing::check_resharded;
using ::testing::Each;
using testing::made_up_tensor;
using testing::on_all_world_sizes;

int64_t bytes_held() { return memory_stats(CPUPlace()).current; }

bool comes_true(const std::function<bool()>& condition) {
  const auto until = std::chrono::steady_clock::now() + std::chrono::seconds(10);
  while (!condition()) {
    if (std::chrono::steady_clock::now() > until) return false;
    std::this_thread::yield();
  }
  return true;
}

ProcessMesh only(int64_t rank) { return ProcessMesh({1}, {}, std::vector<int64_t>{rank}); }

// A replica on `mesh`, all elements `value`.
DistTensor filled_with_value(const ProcessMesh& mesh, const Dims& shape, float value) {
  DistTensor x = DistTensor::empty({shape, DataType::FLOAT32}, TensorDistAttr::replicated(mesh),
                                   CPUPlace(), World::current().rank());
  if (x.initialized()) {
    std::fill_n(x.local().mutable_data<float>(), x.local().numel(), value);
  }
  return x;
}

// Lets rank `first` go on before the others, without the groups that the tests look at.
void after_rank(World& world, int64_t first, const std::function<void()>& body) {
  std::vector<int64_t> turned(static_cast<size_t>(world.size()));
  std::iota(turned.rbegin(), turned.rend(), 0);
  if (world.rank() == first) body();
  world.group(turned).barrier();
  if (world.rank() != first) body();
}

TEST(PendingReshard, GivesWhatReshardGives_InAnyOrderOfWaits) {
  on_all_world_sizes([](World& world) {
    constexpr int kUnderWay = 16;
    std::mt19937 random(static_cast<unsigned>(world.rank()));
    const auto cases = testing::random_reshards(world.size(), 10 * kUnderWay, 20260101);
    for (size_t begin = 0; begin < cases.size(); begin += kUnderWay) {
      const Counters before = world.rank_context().counters();
      StepBytes planned;
      std::vector<PendingReshard> pending;
      for (size_t i = begin; i < begin + kUnderWay; ++i) {
        const auto& [src, dst, shape] = cases[i];
        const DistTensor x = made_up_tensor(shape, DataType::FLOAT32, src);
        pending.push_back(start_reshard(x, dst));
        const auto bytes = plan_reshard(src, dst, shape, DataType::FLOAT32)->bytes(world.rank());
        planned.sent += bytes.sent;
        planned.received += bytes.received;
      }
      std::vector<size_t> order(kUnderWay);
      std::iota(order.begin(), order.end(), 0);
      std::shuffle(order.begin(), order.end(), random);
      std::vector<DistTensor> results(kUnderWay);
      for (size_t i : order) results[i] = pending[i].wait();
      const Counters& after = world.rank_context().counters();
      EXPECT_EQ(after.bytes_sent - before.bytes_sent, planned.sent);
      EXPECT_EQ(after.bytes_received - before.bytes_received, planned.received);
      for (size_t i = 0; i < kUnderWay; ++i) {
        const auto& [src, dst, shape] = cases[begin + i];
        SCOPED_TRACE(plan_reshard(src, dst, shape, DataType::FLOAT32)->to_string());
        check_resharded(results[i], src, dst, shape);
      }
      if (::testing::Test::HasFailure()) return;
    }
  });
}

// Two stages, each half of the ranks: activations up and gradients down, everything posted where it
// is made and waited for where it is used.
TEST(PendingReshard, TwoStagesInBothDirections_AndNothingIsLeft) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    constexpr int kBatches = 8;
    const Dims shape{67, 129};
    std::vector<int64_t> halves[2];
    for (int64_t r = 0; r < world.size(); ++r) halves[r < world.size() / 2 ? 0 : 1].push_back(r);
    const ProcessMesh down({int64_t(halves[0].size())}, {}, halves[0]);
    const ProcessMesh up({int64_t(halves[1].size())}, {}, halves[1]);
    const auto* activation = TensorDistAttr::get(down, {Shard(0)});
    const auto* arrived = TensorDistAttr::get(up, {Shard(1)});
    const auto* gradient = TensorDistAttr::get(up, {Partial()});
    const auto* returned = TensorDistAttr::get(down, {Shard(1)});
    const int64_t before = bytes_held();
    {
      std::vector<PendingReshard> forward;
      std::vector<PendingReshard> backward;
      for (int i = 0; i < kBatches; ++i) {
        const DistTensor x = made_up_tensor(shape, DataType::FLOAT32, activation);
        const DistTensor y = made_up_tensor(shape, DataType::FLOAT32, gradient);
        forward.push_back(start_reshard(x, arrived));
        backward.push_back(start_reshard(y, returned));
      }
      for (int i = 0; i < kBatches; ++i) {
        check_resharded(backward[kBatches - 1 - i].wait(), gradient, returned, shape);
        check_resharded(forward[i].wait(), activation, arrived, shape);
      }
    }
    EXPECT_TRUE(comes_true([&] { return world.transfers_in_flight() == 0; }));
    EXPECT_EQ(bytes_held(), before);
  });
}

TEST(PendingReshard, WaitsForNothingOnARankThatOnlySends) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    constexpr int64_t kCount = 1 << 20;
    const auto* to = TensorDistAttr::replicated(only(1));
    const int64_t before = bytes_held();
    after_rank(world, 0, [&] {
      PendingReshard pending = start_reshard(filled_with_value(only(0), {kCount}, 3), to);
      DistTensor y = pending.wait();
      EXPECT_EQ(y.attr(), to);
      EXPECT_EQ(y.initialized(), world.rank() == 1);
      if (world.rank() == 1) {
        EXPECT_THAT(y.local().values<float>(), Each(3));
        EXPECT_EQ(bytes_held(), before + kCount * 4);
      }
      if (world.rank() == 0) {
        EXPECT_FALSE(pending.done()) << "rank 1 cannot have come";
        EXPECT_EQ(bytes_held(), before + kCount * 4) << "what is being sent";
      }
    });
    EXPECT_TRUE(comes_true([&] { return world.transfers_in_flight() == 0; }));
    EXPECT_EQ(bytes_held(), before);
  });
}

// Rows of columns do not lie in one piece, so they are packed: the tensor and the packed bytes.
TEST(PendingReshard, PackedBytesAreCountedUntilTheyAreSent) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 3) return;
    const ProcessMesh two({2}, {}, std::vector<int64_t>{1, 2});
    const auto* to = TensorDistAttr::get(two, {Shard(1)});
    const int64_t before = bytes_held();
    after_rank(world, 0, [&] {
      start_reshard(filled_with_value(only(0), {512, 1024}, 7), to);
      if (world.rank() == 0) {
        EXPECT_EQ(bytes_held(), before + 2 * 512 * 1024 * 4);
      }
    });
    world.drain();
    EXPECT_EQ(bytes_held(), before);
  });
}

// Reshard itself returns when its bytes have left: the tensor may be written to.
TEST(PendingReshard, ReshardDoesNotReturnBeforeItsBytesAreSent) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    constexpr int64_t kCount = 1 << 20;
    DistTensor x = filled_with_value(only(0), {kCount}, 3);
    if (world.rank() == 1) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    const DistTensor y = reshard(x, TensorDistAttr::replicated(only(1)));
    if (world.rank() == 0) std::fill_n(x.local().mutable_data<float>(), kCount, 99.0f);
    if (world.rank() == 1) {
      EXPECT_THAT(y.local().values<float>(), Each(3));
    }
  });
}

TEST(PendingReshard, WithinOneMeshItIsOverAtOnce) {
  on_all_world_sizes([](World& world) {
    const ProcessMesh mesh({world.size()});
    const auto* src = TensorDistAttr::get(mesh, {Shard(0)});
    const auto* dst = TensorDistAttr::get(mesh, {Shard(1)});
    PendingReshard pending = start_reshard(made_up_tensor({9, 5}, DataType::FLOAT32, src), dst);
    EXPECT_TRUE(pending.done());
    check_resharded(pending.wait(), src, dst, {9, 5});
    const DistTensor x = made_up_tensor({9, 5}, DataType::FLOAT32, src);
    EXPECT_EQ(start_reshard(x, src).wait().local().storage(), x.local().storage());
  });
}

TEST(PendingReshard, IsWaitedForOnce) {
  on_all_world_sizes([](World& world) {
    const auto* attr = TensorDistAttr::replicated(ProcessMesh({world.size()}));
    PendingReshard pending = start_reshard(made_up_tensor({4}, DataType::FLOAT32, attr), attr);
    pending.wait();
    EXPECT_TRUE(pending.done());
    EXPECT_THAT([&] { pending.wait(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "was waited for before"));
    EXPECT_THAT([] { PendingReshard().wait(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "never started"));
    EXPECT_TRUE(PendingReshard().done());
  });
}

}  // namespace
}  // namespace phi::distributed
