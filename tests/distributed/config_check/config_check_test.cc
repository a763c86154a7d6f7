// Facts that differ are told with keys, values and ranks, in the same words everywhere.
#include "distributed/config_check/config_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "distributed/comm/local/local_world.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi::distributed {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

// Returns the message of check_config_consistency and checks that all ranks get the same one.
std::string said(World& world, const ConfigEntries& entries) {
  std::string text;
  try {
    check_config_consistency(world, entries);
  } catch (const Error& error) {
    text = words_of(error);
  }
  constexpr size_t kBytes = 8192;
  EXPECT_LT(text.size(), kBytes);
  std::string own = text;
  own.resize(kBytes);
  std::string all(kBytes * static_cast<size_t>(world.size()), '\0');
  world.everyone().all_gather(own.data(), all.data(), kBytes, DataType::UINT8);
  for (int64_t rank = 0; rank < world.size(); ++rank) {
    EXPECT_EQ(all.substr(static_cast<size_t>(rank) * kBytes, kBytes), own) << "rank " << rank;
  }
  return text;
}

TEST(Agreement, SameFactsAreAgreedOn) {
  testing::on_all_world_sizes([](World& world) {
    check_config_consistency(world, {});
    check_config_consistency(world, {{"a", "1"}, {"b", ""}});
  });
}

TEST(Agreement, AnotherValueIsToldWithItsRanks) {
  testing::on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const bool odd = world.rank() == 1;
    const std::string text =
        said(world, {{"mode", "train"}, {"model.seed", odd ? "4" : "3"}, {"run.steps", "9"}});
    const char* others = world.size() == 2   ? "rank 0"
                         : world.size() == 3 ? "ranks 0 and 2"
                                             : "ranks 0 and 2-3";
    EXPECT_THAT(text, HasSubstr("started differently"));
    EXPECT_THAT(text,
                HasSubstr(fmt::format("\n  model.seed is '3' at {}, '4' at rank 1\n", others)));
    EXPECT_THAT(text, Not(HasSubstr("run.steps")));
    EXPECT_THAT(text, Not(HasSubstr("mode is")));
  });
}

TEST(Agreement, EveryRankMayHaveAValueOfItsOwn) {
  testing::on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const std::string text = said(world, {{"disk", fmt::format("/r{}", world.rank())}});
    for (int64_t rank = 0; rank < world.size(); ++rank) {
      EXPECT_THAT(text, HasSubstr(fmt::format("'/r{}' at rank {}", rank, rank)));
    }
  });
}

TEST(Agreement, OtherKeysAreTold) {
  testing::on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const bool last = world.rank() == world.size() - 1;
    const std::string text =
        said(world, last ? ConfigEntries{{"a", "1"}, {"b", "2"}} : ConfigEntries{{"a", "1"}});
    EXPECT_THAT(text, HasSubstr("b is absent at rank"));
    EXPECT_THAT(text, HasSubstr(fmt::format("'2' at rank {}", world.size() - 1)));
  });
}

TEST(Agreement, OneOrderIsNotAnother) {
  testing::on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const ConfigEntries one = {{"a", "1"}, {"b", "2"}};
    const ConfigEntries other = {{"b", "2"}, {"a", "1"}};
    EXPECT_THAT(said(world, world.rank() == 0 ? one : other), HasSubstr("another order"));
  });
}

// Texts that would be the same if they were only put behind one another.
TEST(Agreement, WhereAKeyEndsMatters) {
  testing::on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const ConfigEntries one = {{"ab", "c"}};
    const ConfigEntries other = {{"a", "bc"}};
    EXPECT_THAT(said(world, world.rank() == 0 ? one : other), HasSubstr("ab is 'c' at rank 0"));
  });
}

TEST(Agreement, WhatIsLongIsCut) {
  testing::on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    ConfigEntries entries;
    for (int key = 0; key < 40; ++key) {
      entries.push_back(
          {fmt::format("key{}", key), std::string(300, 'x') + (world.rank() ? "a" : "b")});
    }
    const std::string text = said(world, entries);
    EXPECT_THAT(text, HasSubstr("x...' (301 characters) at rank 0"));
    EXPECT_THAT(text, HasSubstr("\n  and 24 more"));
  });
}

// As many as are told, one more, and more, each on two ranks that are far from each other.
TEST(Agreement, OfManyVersionsTheFirstAreTold) {
  constexpr int64_t kTold = 16;
  for (const int64_t versions : {kTold - 1, kTold, kTold + 1, kTold + 3}) {
    run_ranks(2 * versions, [&](World& world) {
      const int64_t own = world.rank() % versions;
      const std::string text = said(world, {{"key", fmt::format("v{}", own)}, {"same", "x"}});
      for (int64_t version = 0; version < versions; ++version) {
        const std::string line =
            fmt::format("'v{}' at ranks {} and {}", version, version, version + versions);
        EXPECT_EQ(text.find(line) != std::string::npos, version < kTold) << text;
      }
      EXPECT_THAT(text, Not(HasSubstr("same is")));
    });
  }
}

// As many differing keys as are told, and one more.
TEST(Agreement, OfManyKeysTheFirstAreTold) {
  for (const int keys : {15, 16, 17}) {
    run_ranks(2, [&](World& world) {
      ConfigEntries entries;
      for (int key = 0; key < keys; ++key) {
        entries.push_back({fmt::format("key{}", key), fmt::format("{}", world.rank())});
      }
      const std::string text = said(world, entries);
      for (int key = 0; key < keys; ++key) {
        EXPECT_EQ(text.find(fmt::format("key{} is", key)) != std::string::npos, key < 16) << text;
      }
      EXPECT_EQ(text.find("\n  and 1 more") != std::string::npos, keys == 17) << text;
    });
  }
}

// A value at the limit is whole.
TEST(Agreement, OnlyWhatIsLongerThanTheLimitIsCut) {
  for (const size_t size : {199, 200, 201}) {
    run_ranks(2, [&](World& world) {
      std::string value(size, 'x');
      value[0] = world.rank() == 0 ? 'a' : 'b';
      const std::string text = said(world, {{"key", value}});
      EXPECT_EQ(text.find(fmt::format("({} characters)", size)) != std::string::npos, size > 200)
          << text;
    });
  }
}

TEST(Agreement, RanksAreNamedAsRanges) {
  EXPECT_EQ(name_ranks({3}), "rank 3");
  EXPECT_EQ(name_ranks({0, 1}), "ranks 0-1");
  EXPECT_EQ(name_ranks({0, 2, 3, 4, 7}), "ranks 0, 2-4 and 7");
}

TEST(Agreement, FactsAreJson) {
  EXPECT_EQ(to_json({{"b", "1"}, {"a", "say \"x\"\n"}}), R"({"b":"1","a":"say \"x\"\n"})");
  EXPECT_THAT(to_json({{"a", "\xff"}}), HasSubstr("\xef\xbf\xbd"));
}

}  // namespace
}  // namespace phi::distributed
