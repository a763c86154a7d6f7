// Ranks as threads that start, look at, wait for and drop transfers while others end, make their
// groups as they come to them, and fail beside each other.
#include "support/races.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <random>
#include <vector>

#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using phi::testing::for_each_seed;
using ::testing::AnyOf;
using ::testing::HasSubstr;

constexpr int64_t kRanks = 4;
using Random = std::mt19937_64;

Random random_of(uint64_t seed, int64_t rank) {
  return Random(seed * kRanks + static_cast<uint64_t>(rank));
}

// What one rank sends to the next within a group, and gets from the one before. When it goes, all
// must have arrived, and nobody may still read what it sent.
class Parcel {
 public:
  Parcel(const Group& group, int64_t number, size_t count)
      : out_(count), in_(count, -1), group_(group), number_(number) {
    for (size_t i = 0; i < count; ++i) out_[i] = value(group_.position(), i);
  }
  ~Parcel() {
    if (is_watched_) expect_arrived();
    std::fill(out_.begin(), out_.end(), int64_t{-2});
    std::fill(in_.begin(), in_.end(), int64_t{-2});
  }
  Parcel(const Parcel&) = delete;
  Parcel& operator=(const Parcel&) = delete;

  static Transfer start(Group& group, const std::shared_ptr<Parcel>& parcel) {
    const int64_t n = group.size();
    const size_t bytes = parcel->out_.size() * sizeof(int64_t);
    const Send send{(group.position() + 1) % n, parcel->out_.data(), bytes};
    const Recv recv{(group.position() + n - 1) % n, parcel->in_.data(), bytes};
    return group.start_exchange({&send, 1}, {&recv, 1}, parcel);
  }

  void expect_arrived() const {
    const int64_t from = (group_.position() + group_.size() - 1) % group_.size();
    for (size_t i = 0; i < in_.size(); ++i) {
      ASSERT_EQ(in_[i], value(from, i)) << "element " << i << " of number " << number_;
    }
  }
  /// The job fails: what does not arrive is no fault.
  void may_be_lost() { is_watched_ = false; }

 private:
  int64_t value(int64_t position, size_t i) const {
    return (group_.ranks()[static_cast<size_t>(position)] * 1000 + number_) * 100'000 +
           static_cast<int64_t>(i);
  }

  std::vector<int64_t> out_;
  std::vector<int64_t> in_;
  const Group& group_;
  int64_t number_;
  bool is_watched_ = true;
};

TEST(CommRaces, TransfersLookedAtWhileOthersEnd) {
  for_each_seed(25, [](uint64_t seed) {
    run_ranks(kRanks, [seed](World& world) {
      Random random = random_of(seed, world.rank());
      Random common(seed);  // what all ranks do alike
      Group& group = world.everyone();
      struct Open {
        Transfer transfer;
        std::shared_ptr<Parcel> parcel;
      };
      std::vector<Open> open;
      std::vector<std::weak_ptr<Parcel>> all;
      const auto end = [&](size_t at) {
        open[at].parcel->expect_arrived();
        open.erase(open.begin() + static_cast<std::ptrdiff_t>(at));
      };
      for (int64_t number = 0; number < 20; ++number) {
        auto parcel = std::make_shared<Parcel>(group, number, common() % 3000);
        all.push_back(parcel);
        const Transfer transfer = Parcel::start(group, parcel);
        if (random() % 3 > 0) open.push_back({transfer, std::move(parcel)});
        for (size_t at = open.size(); at-- > 0;) {
          if (random() % 2 == 0 && open[at].transfer.done()) end(at);
        }
        if (common() % 4 == 0) {
          int64_t sum = world.rank();
          group.all_reduce(&sum, 1, DataType::INT64, ReduceKind::kSum);
          ASSERT_EQ(sum, kRanks * (kRanks - 1) / 2);
        }
        if (!open.empty() && random() % 4 == 0) {
          const size_t at = random() % open.size();
          open[at].transfer.wait();
          end(at);
        }
      }
      std::shuffle(open.begin(), open.end(), random);
      for (; !open.empty(); end(open.size() - 1)) open.back().transfer.wait();
      world.drain();
      EXPECT_EQ(world.transfers_in_flight(), 0u);
      for (const auto& parcel : all) EXPECT_TRUE(parcel.expired());
    });
  });
}

std::vector<std::vector<int64_t>> groups_of(int64_t rank) {
  std::vector<std::vector<int64_t>> groups;
  for (int64_t members = 0; members < 1 << kRanks; ++members) {
    std::vector<int64_t> ranks;
    for (int64_t r = 0; r < kRanks; ++r) {
      if (members >> r & 1) ranks.push_back(r);
    }
    if (ranks.size() < 2 || !(members >> rank & 1)) continue;
    groups.push_back(ranks);
    groups.emplace_back(ranks.rbegin(), ranks.rend());
  }
  return groups;
}

// Each rank comes to its groups in an order of its own: one may have made and used a group that
// another has not heard of.
TEST(CommRaces, GroupsMadeByAllAtOnce_InOtherOrders) {
  for_each_seed(25, [](uint64_t seed) {
    run_ranks(kRanks, [seed](World& world) {
      Random random = random_of(seed, world.rank());
      std::vector<std::vector<int64_t>> lists = groups_of(world.rank());
      std::vector<Transfer> transfers;
      std::vector<std::shared_ptr<Parcel>> parcels;
      for (int64_t round = 0; round < 2; ++round) {
        std::shuffle(lists.begin(), lists.end(), random);
        for (const auto& ranks : lists) {
          Group& group = world.group(ranks);
          EXPECT_EQ(&group, &world.group(ranks));
          EXPECT_TRUE(std::ranges::equal(group.ranks(), ranks));
          EXPECT_EQ(group.ranks()[static_cast<size_t>(group.position())], world.rank());
          parcels.push_back(std::make_shared<Parcel>(group, round, 16));
          transfers.push_back(Parcel::start(group, parcels.back()));
        }
      }
      for (size_t at = transfers.size(); at-- > 0;) {
        transfers[at].wait();
        parcels[at]->expect_arrived();
      }
    });
  });
}

// The error that ends the job is the one that all ranks are told of, and buffers under way are
// left alone before they go.
TEST(CommRaces, RanksThatFailBesideEachOther) {
  for_each_seed(120, [](uint64_t seed) {
    std::vector<std::vector<std::weak_ptr<Parcel>>> all(kRanks);
    std::vector<std::string> told(kRanks);
    std::string error;
    try {
      run_ranks(kRanks, [&](World& world) {
        Random random = random_of(seed, world.rank());
        Group& group = world.everyone();
        const auto rank = static_cast<size_t>(world.rank());
        const bool fails = world.rank() % 2 == 1;
        const int64_t last = fails ? static_cast<int64_t>(random() % 6) : 1000;
        try {
          for (int64_t number = 0; number < last; ++number) {
            auto parcel = std::make_shared<Parcel>(group, number, 500);
            parcel->may_be_lost();
            all[rank].push_back(parcel);
            const Transfer transfer = Parcel::start(group, parcel);
            if (random() % 2 == 0) transfer.wait();
          }
        } catch (const Error& other) {
          told[rank] = other.what();
          throw;
        }
        throw errors::InvalidArgument("x is wrong at {}.", world.rank());
      });
    } catch (const Error& first) {
      error = first.what();
    }
    ASSERT_THAT(error, AnyOf(HasSubstr("x is wrong at 1."), HasSubstr("x is wrong at 3.")));
    const std::string culprit = error.substr(error.find("x is wrong at "), 16);
    for (const std::string& message : told) {
      if (message.empty()) continue;
      EXPECT_THAT(message, HasSubstr("failed: " + culprit));
    }
    for (const auto& parcels : all) {
      for (const auto& parcel : parcels) EXPECT_TRUE(parcel.expired());
    }
  });
}

// A report is made of what the others are doing, while they do it.
TEST(CommRaces, AReportOfRanksThatAreBusy) {
  for_each_seed(10, [](uint64_t /*seed*/) {
    std::string error;
    try {
      run_ranks(kRanks, [](World& world) {
        if (world.rank() == 0) {
          world.set_deadline(World::Milliseconds(2));
          world.everyone().barrier();
        }
        const int64_t busy[] = {1, 2, 3};
        for (;;) {
          int64_t sum = world.rank();
          world.group(busy).all_reduce(&sum, 1, DataType::INT64, ReduceKind::kSum);
          ASSERT_EQ(sum, 6);
        }
      });
    } catch (const Error& timeout) {
      error = timeout.what();
      EXPECT_EQ(timeout.code(), ErrorCode::kExecutionTimeout);
    }
    for (const char* part : {"Timed out after 0.002 s in barrier #1 of group {0,1,2,3}",
                             "rank 0  waiting in barrier #1", "rank 3  ", "<- missing"}) {
      EXPECT_THAT(error, HasSubstr(part));
    }
  });
}

}  // namespace
}  // namespace phi::distributed
