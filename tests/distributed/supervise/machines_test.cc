// Host files, and machines that answer, do not, or take their time.
#include "distributed/supervise/machines.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <array>
#include <string>
#include <vector>

#include "phi/common/errors.h"
#include "support/error_matchers.h"

namespace phi::distributed::supervise {
namespace {

using Machines = std::vector<Machine>;

TEST(HostFile, NamesMachinesAndSlots) {
  const Machines expected = {{"node1", 4}, {"10.0.0.2", 8}, {"a-b_c.example.org", 1}};
  EXPECT_EQ(parse_host_file("# all\nnode1 slots=4 # old\n\n\t10.0.0.2\tslots=8\r\n"
                            "a-b_c.example.org slots=1",
                            "hosts"),
            expected);
}

TEST(HostFile, WhatIsNotUnderstoodIsNamed) {
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"a slots=4\nb", "hosts:2: 'b' has no number of slots"},
      {"a slots=0", "hosts:1: 'slots=0' is not understood"},
      {"a slots=4x", "'slots=4x' is not understood"},
      {"a slots=99999", "'slots=99999' is not understood"},
      {"a slots=4 slots=4", "'slots=4' is not understood"},
      {"a max_slots=4", "'max_slots=4' is not understood"},
      {"me@a slots=4", "'me@a' is not a machine name"},
      {"-oProxyCommand=x slots=4", "'-oProxyCommand=x' is not a machine name"},
      {"a,b slots=4", "'a,b' is not a machine name"},
      {"a slots=1\n\na slots=2", "hosts:3: the machine 'a' is named twice"},
      {"# none\n", "the host file 'hosts' names no machine"}};
  for (const auto& [text, words] : cases) {
    const auto parse = [&, text = text] { parse_host_file(text, "hosts"); };
    EXPECT_THAT(parse, ThrowsError(ErrorCode::kInvalidArgument, words));
  }
  EXPECT_THAT([] { read_host_file("/nowhere"); },
              ThrowsError(ErrorCode::kNotFound, "host file '/nowhere': No such file"));
  EXPECT_THAT([] { read_host_file("/tmp"); }, ThrowsError(ErrorCode::kNotFound, "'/tmp'"));
}

TEST(Machines, ThoseThatAnswerAreKeptInTheirOrder) {
  const Machines all = {{"m1", 1}, {"m2", 2}, {"m3", 3}, {"localhost", 5}};
  const Probe probe{.command = "case $1 in m1|m3) exit 0;; *) exit 255;; esac",
                    .limit = std::chrono::minutes(5)};
  const Machines expected = {{"m1", 1}, {"m3", 3}, {"localhost", 5}};
  EXPECT_EQ(responding_machines(all, probe), expected);
}

TEST(Machines, ThoseThatDoNotAnswerComeWithTheProbesWords) {
  const Machines all = {{"m1", 1}, {"localhost", 5}, {"m2", 2}, {"m3", 3}};
  const Probe probe{.command =
                        "case $1 in m1) exit 0;; m2) echo dropped; seq 20000 >&2; printf "
                        "'no \\033route\\n\\n' >&2; exit 255;; *) exit 3;; esac",
                    .limit = std::chrono::minutes(5)};
  std::vector<UnresponsiveMachine> others;
  EXPECT_EQ(responding_machines(all, probe, &others), (Machines{{"m1", 1}, {"localhost", 5}}));
  ASSERT_EQ(others.size(), 2u);
  EXPECT_EQ(others[0].machine, "m2");
  EXPECT_EQ(others[0].why, "no \\x1broute (exit status 255)");
  EXPECT_EQ(others[1].machine, "m3");
  EXPECT_EQ(others[1].why, "exit status 3");
}

TEST(Machines, OneThatTakesTooLongDoesNotAnswer) {
  const Machines all = {{"m1", 1}, {"localhost", 5}};
  const Probe probe{.command = "sleep 1000", .limit = std::chrono::milliseconds(1)};
  std::vector<UnresponsiveMachine> others;
  EXPECT_EQ(responding_machines(all, probe, &others), (Machines{{"localhost", 5}}));
  ASSERT_EQ(others.size(), 1u);
  EXPECT_EQ(others[0].why, "no response within 0.001 s");
}

TEST(Machines, ThisOneAnswersByAnyOfItsNames) {
  std::array<char, 256> name{};
  gethostname(name.data(), name.size() - 1);
  EXPECT_TRUE(is_this_machine(name.data()));
  EXPECT_TRUE(is_this_machine("localhost"));
  EXPECT_TRUE(is_this_machine("127.0.0.1"));
  EXPECT_FALSE(is_this_machine("192.0.2.1"));  // RFC 5737: nobody's
}

TEST(Machines, HostListTakesTheFirstSlots) {
  const Machines all = {{"a", 4}, {"b", 2}, {"c", 4}};
  EXPECT_EQ(slots_of(all), 10);
  EXPECT_EQ(host_list(all, 10), "a:4,b:2,c:4");
  EXPECT_EQ(host_list(all, 5), "a:4,b:1");
  EXPECT_EQ(host_list(all, 4), "a:4");
}

}  // namespace
}  // namespace phi::distributed::supervise
