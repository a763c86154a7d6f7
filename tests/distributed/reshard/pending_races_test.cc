// Reshards under way on all ranks at once: looked at, waited for and dropped by their owners while
// their messages end; and one tensor of the user that all ranks lay out at the same time.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <atomic>
#include <numeric>
#include <random>
#include <vector>

#include "distributed/comm/local/local_world.h"
#include "distributed/reshard/captured_steps.h"
#include "distributed/reshard/execute.h"
#include "phi/core/storage/host_source.h"
#include "support/races.h"
#include "support/reshard_oracle.h"

namespace phi::distributed {
namespace {

using phi::testing::for_each_seed;
using testing::check_resharded;
using ::testing::Each;
using testing::made_up_tensor;
using testing::ReshardCase;

constexpr int64_t kRanks = 4;
using Random = std::mt19937_64;

Random random_of(uint64_t seed, int64_t rank) {
  return Random(seed * kRanks + static_cast<uint64_t>(rank));
}
const TensorDistAttr* on(int64_t rank) {
  return TensorDistAttr::replicated(ProcessMesh({1}, {}, std::vector<int64_t>{rank}));
}
int64_t bytes_held() { return memory_stats(CPUPlace()).current; }

// Sources go at once: what is on its way is kept by the world alone.
void start_and_wait(World& world, uint64_t seed, const std::vector<ReshardCase>& cases) {
  Random random = random_of(seed, world.rank());
  std::vector<PendingReshard> pending;
  std::vector<DistTensor> results(cases.size());
  std::vector<size_t> open;
  const auto wait = [&](size_t at) {
    const size_t i = open[at];
    results[i] = random() % 2 ? pending[i].wait() : pending[i].wait_until_sent();
    open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
  };
  for (const auto& [src, dst, shape] : cases) {
    pending.push_back(start_reshard(made_up_tensor(shape, DataType::FLOAT32, src), dst));
    open.push_back(pending.size() - 1);
    for (size_t at = open.size(); at-- > 0;) {
      if (random() % 2 == 0 && pending[open[at]].done()) wait(at);
    }
    world.transfers_in_flight();
  }
  while (!open.empty()) wait(random() % open.size());
  for (size_t i = 0; i < cases.size(); ++i) {
    check_resharded(results[i], cases[i].src, cases[i].dst, cases[i].shape);
  }
}

TEST(ReshardRaces, PendingOnesLookedAtWhileOthersEnd) {
  for_each_seed(12, [](uint64_t seed) {
    const auto cases = testing::random_reshards(kRanks, 16, static_cast<unsigned>(seed));
    run_ranks(kRanks, [&](World& world) {
      const int64_t before = bytes_held();
      start_and_wait(world, seed, cases);
      world.drain();
      EXPECT_EQ(bytes_held(), before);
    });
  });
}

// All elements of this rank's part, if it has one.
void fill(DistTensor* x, float value) {
  if (!x->initialized()) return;
  std::fill_n(x->local().mutable_data<float>(), x->local().numel(), value);
}

// On one rank, all elements `value`.
DistTensor filled_on(int64_t rank, const Dims& shape, float value) {
  DistTensor x =
      DistTensor::empty({shape, DataType::FLOAT32}, on(rank), CPUPlace(), World::current().rank());
  fill(&x, value);
  return x;
}

// A pipeline's sends: each rank posts to the next and goes on; some results are never asked for.
TEST(ReshardRaces, PostedSendsKeepTheirBytes_UntilTheyHaveLeft) {
  for_each_seed(20, [](uint64_t seed) {
    run_ranks(kRanks, [seed](World& world) {
      struct Arriving {
        float value;
        PendingReshard reshard;
      };
      Random random = random_of(seed, world.rank());
      const int64_t before = bytes_held();
      std::vector<Arriving> arriving;
      for (int64_t batch = 0; batch < 10; ++batch) {
        for (int64_t from = 0; from + 1 < kRanks; ++from) {
          const auto value = static_cast<float>(from * 100 + batch);
          PendingReshard reshard = start_reshard(filled_on(from, {17, 65}, value), on(from + 1));
          if (world.rank() == from + 1) arriving.push_back({value, std::move(reshard)});
        }
        if (arriving.empty() || random() % 2) continue;
        const size_t at = random() % arriving.size();
        const DistTensor y = arriving[at].reshard.wait();
        EXPECT_THAT(y.local().values<float>(), Each(arriving[at].value));
        arriving.erase(arriving.begin() + static_cast<std::ptrdiff_t>(at));
      }
      arriving.clear();
      world.drain();
      EXPECT_EQ(bytes_held(), before);
    });
  });
}

// In a captured program the array that is sent has other uses once the send has begun, however late
// the receiver is.
TEST(ReshardRaces, WhatARecordedSendSends_MayBeWrittenToAtOnce) {
  for_each_seed(20, [](uint64_t seed) {
    run_ranks(2, [seed](World& world) {
      Random random = random_of(seed, world.rank());
      const int64_t before = bytes_held();
      {
        DistTensor x = filled_on(0, {40, 50}, -1);
        const DistTensor y =
            DistTensor::empty(x.meta(), on(1), CPUPlace(), world.rank(), "reshard");
        const CapturedReshard steps = capture_reshard(x, y);
        for (int run = 0; run < 8; ++run) {
          fill(&x, static_cast<float>(run));
          steps.start->run();
          fill(&x, -2);
          if (random() % 2) world.transfers_in_flight();
          steps.finish->run();
          if (y.initialized()) {
            EXPECT_THAT(y.local().values<float>(), Each(static_cast<float>(run)));
          }
        }
        world.drain();
      }
      EXPECT_EQ(bytes_held(), before);
    });
  });
}

// Of one host array each rank reads its own part, and is charged for that; who needs all of it
// brings it here for everybody.
TEST(ReshardRaces, ATensorOfAllRanks_IsLaidOutByAllAtOnce) {
  for_each_seed(25, [](uint64_t seed) {
    constexpr int64_t kRows = 8, kColumns = 1500;
    std::vector<float> values(kRows * kColumns);
    std::iota(values.begin(), values.end(), 0.0f);
    auto source = HostSource::keep(std::move(values), {kRows, kColumns});
    const TensorMeta meta = source->meta();
    const DenseTensor global(meta, Storage::from_source(CPUPlace(), std::move(source)));
    std::atomic<int64_t> charged = 0;
    run_ranks(kRanks, [&](World& world) {
      const auto* rows = TensorDistAttr::get(ProcessMesh({kRanks}), {Shard(0)});
      const int64_t before = bytes_held();
      if (random_of(seed, world.rank())() % 2) {
        EXPECT_EQ(global.data<float>()[kRows * kColumns - 1], kRows * kColumns - 1);
      }
      DistTensor x = distribute(global, rows);
      const int64_t first = world.rank() * kRows / kRanks * kColumns;
      for (int64_t i = 0; i < x.local().numel(); ++i) {
        ASSERT_EQ(x.local().data<float>()[i], static_cast<float>(first + i));
      }
      const auto own = static_cast<int64_t>(x.local().nbytes());
      EXPECT_EQ(own, kRows / kRanks * kColumns * 4);
      charged.fetch_add(bytes_held() - before - own, std::memory_order_relaxed);
      const DistTensor whole = reshard(x, TensorDistAttr::replicated(x.mesh()));
      EXPECT_EQ(whole.local().data<float>()[kColumns], kColumns);
    });
    EXPECT_EQ(charged, static_cast<int64_t>(global.nbytes_here()));
  });
}

}  // namespace
}  // namespace phi::distributed
