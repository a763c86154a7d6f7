// Aliases in the hands of many threads: each of them may be written to, kept or dropped while the
// owner is, and has its value and its account all the same.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "phi/core/dense_tensor.h"
#include "phi/core/rank_context.h"
#include "support/races.h"

namespace phi {
namespace {

using testing::at_once;
using testing::for_each_seed;

constexpr int kThreads = 5;
constexpr int64_t kPart = 1600;
constexpr int64_t kPartBytes = kPart * 4;
constexpr int64_t kBytes = kThreads * kPartBytes;

// The rank that makes tensors, and those whose threads get parts of them.
class Ranks {
 public:
  Ranks() {
    for (int rank = 0; rank < kThreads; ++rank) {
      contexts_.push_back(std::make_unique<RankContext>(rank, kThreads));
    }
  }
  RankContext& operator[](int rank) { return *contexts_[static_cast<size_t>(rank)]; }
  template <typename F>
  void run(const F& body) {
    at_once(kThreads, [&](int rank) {
      const RankContext::Scope scope((*this)[rank]);
      body(rank);
    });
  }
  int64_t held() {
    int64_t sum = 0;
    for (const auto& context : contexts_) {
      sum += context->memory()->stats(DeviceKind::CPU).current;
    }
    return sum;
  }
  void expect_nothing_held() {
    EXPECT_EQ(held(), 0);
    for (const auto& context : contexts_) {
      const BlockCache::Stats blocks = context->memory()->blocks().stats();
      EXPECT_EQ(blocks.reserved, blocks.cached) << "rank " << context->rank();
    }
  }

 private:
  std::vector<std::unique_ptr<RankContext>> contexts_;
};

// Element i is i divided by the length of a part: part p is full of p.
DenseTensor numbered() {
  DenseTensor x = DenseTensor::empty({{kThreads * kPart}, DataType::INT32}, CPUPlace());
  auto* values = x.mutable_data<int32_t>();
  for (int64_t i = 0; i < x.numel(); ++i) values[i] = static_cast<int32_t>(i / kPart);
  return x;
}
DenseTensor part(const DenseTensor& x, int64_t i) {
  return x.alias_part({{kPart}, DataType::INT32}, static_cast<size_t>(i * kPartBytes));
}
void fill(DenseTensor& x, int32_t value) {
  x.storage()->note_write();
  std::fill_n(x.mutable_data<int32_t>(), x.numel(), value);
}
bool is_all(const DenseTensor& x, int32_t value) {
  const auto values = x.values<int32_t>();
  return std::ranges::all_of(values, [&](int32_t v) { return v == value; });
}

TEST(CowAliasRaces, WritesToTheOwnerMeetWritesToItsAliases) {
  for_each_seed(60, [](uint64_t seed) {
    Ranks ranks;
    DenseTensor x;
    std::vector<DenseTensor> parts;
    {
      const RankContext::Scope scope(ranks[0]);
      x = numbered();
      for (int i = 0; i < kThreads; ++i) parts.push_back(part(x, i));
    }
    ranks.run([&](int rank) {
      std::mt19937_64 random(seed * kThreads + static_cast<uint64_t>(rank));
      if (rank == 0) return fill(x, -1);
      DenseTensor own = std::move(parts[static_cast<size_t>(rank)]);
      switch (random() % 4) {
        case 0:
          own = {};
          break;
        case 1:
          fill(own, 10 + rank);
          EXPECT_TRUE(is_all(own, 10 + rank));
          break;
        case 2:
          own.storage()->keep_bytes();
          EXPECT_TRUE(is_all(own, rank));
          break;
        default:
          own.storage()->keep_bytes();
          EXPECT_TRUE(is_all(own, rank));
          fill(own, 20 + rank);
          EXPECT_TRUE(is_all(own, 20 + rank));
      }
    });
    EXPECT_TRUE(is_all(x, -1));
    EXPECT_TRUE(is_all(parts[0], 0));
    EXPECT_EQ(ranks.held(), kBytes + kPartBytes);
    x = {};
    parts.clear();
    ranks.expect_nothing_held();
  });
}

// All of them read, by the address from before or after; one copy is made.
TEST(CowAliasRaces, WhoKeepsAnAliasDisturbsNoReader) {
  for_each_seed(60, [](uint64_t seed) {
    Ranks ranks;
    DenseTensor x, shared;
    {
      const RankContext::Scope scope(ranks[0]);
      x = numbered();
      shared = part(x, 3);
    }
    ranks.run([&](int rank) {
      std::mt19937_64 random(seed * kThreads + static_cast<uint64_t>(rank));
      const DenseTensor own = shared;
      const int32_t* const before = own.data<int32_t>();
      if (random() % 2) own.storage()->keep_bytes();
      EXPECT_TRUE(is_all(own, 3));
      EXPECT_TRUE(std::all_of(before, before + kPart, [](int32_t v) { return v == 3; }));
    });
    EXPECT_EQ(ranks.held(), kBytes + (shared.storage()->owns_bytes() ? kPartBytes : 0));
    x = {};
    shared = {};
    ranks.expect_nothing_held();
  });
}

// Threads of one rank take parts, and parts of parts, of one array and let them go.
TEST(CowAliasRaces, PartsAreTakenAndDroppedAtOnce) {
  for_each_seed(60, [](uint64_t seed) {
    Ranks ranks;
    DenseTensor x;
    {
      const RankContext::Scope scope(ranks[0]);
      x = numbered();
    }
    at_once(kThreads, [&](int thread) {
      const RankContext::Scope scope(ranks[0]);
      std::mt19937_64 random(seed * kThreads + static_cast<uint64_t>(thread));
      std::vector<std::pair<DenseTensor, int32_t>> own;
      for (int turn = 0; turn < 20; ++turn) {
        const auto which = static_cast<int32_t>(random() % kThreads);
        switch (own.empty() ? 0 : random() % 5) {
          case 0:
            own.emplace_back(part(x, which), which);
            break;
          case 4:
            own.emplace_back(x.rows(which * kPart, (which + 1) * kPart).fixed(), which);
            break;
          case 1: {
            auto again = own.front().first.alias_part({{kPart}, DataType::INT32}, 0);
            if (again.defined()) own.emplace_back(std::move(again), own.front().second);
            break;
          }
          case 2:
            fill(own.back().first, 7 + thread);
            own.back().second = 7 + thread;
            break;
          default:
            own.erase(own.begin());
        }
        for (const auto& [array, value] : own) EXPECT_TRUE(is_all(array, value));
      }
    });
    EXPECT_EQ(ranks.held(), kBytes);
    EXPECT_EQ(x.storage()->use_count(), 1);
    x = {};
    ranks.expect_nothing_held();
  });
}

TEST(CowAliasRaces, TheOwnerAndItsAliasesEndAtOnce) {
  for_each_seed(60, [](uint64_t /*seed*/) {
    Ranks ranks;
    std::vector<DenseTensor> handles;
    {
      const RankContext::Scope scope(ranks[0]);
      handles.push_back(numbered());
      for (int i = 1; i < kThreads; ++i) handles.push_back(part(handles[0], i));
      handles[1].storage()->keep_bytes();
    }
    ranks.run([&](int rank) { handles[static_cast<size_t>(rank)] = {}; });
    ranks.expect_nothing_held();
  });
}

}  // namespace
}  // namespace phi
