// Transfers over links against times computed by hand, and against a simulation in small steps.
#include "distributed/simulator/link_traffic.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <random>

namespace phi::distributed::simulator {
namespace {

using Transfer = LinkTraffic::Transfer;

// The times at which the transfers end, by their order.
std::vector<double> ends_on(const std::vector<LinkTraffic::Link>& links,
                            const std::vector<Transfer>& all) {
  LinkTraffic traffic(links);
  std::vector<double> ends(all.size());
  for (const Transfer& each : all) traffic.add(each);
  for (auto ended = traffic.next(); !ended.empty(); ended = traffic.next()) {
    for (const auto& each : ended) ends[each.id] = each.time;
  }
  return ends;
}

std::vector<double> ends_of(const std::vector<double>& rates, const std::vector<Transfer>& all) {
  std::vector<LinkTraffic::Link> links;
  for (const double rate : rates) links.push_back({.bytes_per_second = rate});
  return ends_on(links, all);
}

Transfer over(size_t link, double begin, double bytes, int64_t count = 1) {
  return {.begin = begin, .legs = {{link, bytes, count}}};
}

TEST(LinkTraffic, OneAloneHasTheWholeLink) {
  EXPECT_EQ(ends_of({4, 5}, {over(0, 3, 8), over(1, 0, 10), over(0, 7, 4)}),
            (std::vector<double>{5, 2, 8}));
  EXPECT_EQ(ends_of({4}, {{.begin = 3}, over(0, 1, 0)}), (std::vector<double>{3, 1}));
}

TEST(LinkTraffic, SeveralShareTheLinkWhileTheyAreUnderWay) {
  // From 2 to 6 both have half.
  EXPECT_EQ(ends_of({1}, {over(0, 0, 4), over(0, 2, 4)}), (std::vector<double>{6, 8}));
  // 1 second alone, 3 of three each, 2 of two, 1 alone.
  EXPECT_EQ(ends_of({6}, {over(0, 0, 12), over(0, 1, 18), over(0, 1, 12)}),
            (std::vector<double>{4, 7, 6}));
}

// Two cores, on which a second takes a second at least.
TEST(LinkTraffic, OneMayHaveLessThanTheWholeLink) {
  const std::vector<LinkTraffic::Link> cores = {{.bytes_per_second = 2, .most_of_one = 1}};
  EXPECT_EQ(ends_on(cores, {over(0, 0, 4), over(0, 1, 5)}), (std::vector<double>{4, 6}));
  // From 2 to 4 there are four, which have half a core each, then three.
  EXPECT_EQ(ends_on(cores, {over(0, 0, 3), over(0, 2, 2, 2), over(0, 0, 6)}),
            (std::vector<double>{4, 5.5, 7.5}));
}

TEST(LinkTraffic, ACountStandsForEqualTransfers) {
  const std::vector<double> one = ends_of({3}, {over(0, 0.1, 7, 3), over(0, 1.7, 11)});
  const std::vector<double> all =
      ends_of({3}, {over(0, 0.1, 7), over(0, 0.1, 7), over(0, 1.7, 11), over(0, 0.1, 7)});
  EXPECT_EQ(all[0], one[0]);
  EXPECT_EQ(all[1], one[0]);
  EXPECT_EQ(all[3], one[0]);
  EXPECT_EQ(all[2], one[1]);
}

TEST(LinkTraffic, LegsAreOneAfterTheOtherOrAtOnce) {
  Transfer transfer{.begin = 1, .legs = {{0, 4}, {1, 6}}};
  EXPECT_EQ(ends_of({2, 3}, {transfer}), std::vector<double>{1 + 2 + 2});
  // The second leg shares its link from 3 on: 2 bytes of 8 are left then.
  EXPECT_EQ(ends_of({2, 3}, {transfer, over(1, 1, 8)}),
            (std::vector<double>{1 + 2 + 8 / 3.0, 13 / 3.0}));
  transfer.at_once = true;
  EXPECT_EQ(ends_of({2, 3}, {transfer}), std::vector<double>{1 + 2});
}

TEST(LinkTraffic, ALinkWithoutLimitTakesNoTime) {
  const double unlimited = std::numeric_limits<double>::infinity();
  EXPECT_EQ(ends_of({unlimited}, {over(0, 1, 5), over(0, 1, 7), over(0, 2, 1)}),
            (std::vector<double>{1, 1, 2}));
}

TEST(LinkTraffic, IdsAreUsedAgain) {
  LinkTraffic traffic(std::vector<LinkTraffic::Link>{{.bytes_per_second = 1}});
  const size_t first = traffic.add(over(0, 0, 1));
  EXPECT_EQ(traffic.next().front().id, first);
  EXPECT_EQ(traffic.add(over(0, 1, 1)), first);
  EXPECT_EQ(traffic.next().front().time, 2);
  EXPECT_TRUE(traffic.next().empty());
}

// Bytes on one link, moved in steps that are short beside all times.
std::vector<double> ends_in_small_steps(double rate, std::vector<Transfer> all) {
  constexpr double kStep = 1e-3;
  std::vector<double> ends(all.size(), 0);
  for (double now = 0; std::ranges::find(ends, 0.0) != ends.end(); now += kStep) {
    const auto is_under_way = [&](size_t i) { return ends[i] == 0 && all[i].begin <= now; };
    double users = 0;
    for (size_t i = 0; i < all.size(); ++i) users += is_under_way(i) ? 1 : 0;
    for (size_t i = 0; i < all.size(); ++i) {
      if (!is_under_way(i)) continue;
      all[i].legs[0].bytes -= kStep * rate / users;
      if (all[i].legs[0].bytes <= 0) ends[i] = now;
    }
  }
  return ends;
}

TEST(LinkTraffic, RandomTransfersEndAsInSmallSteps) {
  std::mt19937 random(5);
  std::uniform_real_distribution<double> begins(0, 10), bytes(0.1, 4);
  for (int i = 0; i < 20; ++i) {
    std::vector<Transfer> all;
    for (int j = 0; j < 12; ++j) all.push_back(over(0, begins(random), bytes(random)));
    const std::vector<double> ends = ends_of({2}, all), expected = ends_in_small_steps(2, all);
    for (size_t j = 0; j < ends.size(); ++j) EXPECT_NEAR(ends[j], expected[j], 0.03);
  }
}

}  // namespace
}  // namespace phi::distributed::simulator
