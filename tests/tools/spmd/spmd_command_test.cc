// The spmd command: its three forms, and flags that a form does not read.
#include "tools/spmd_command.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "tests/support/run_command.h"

namespace {

using ::testing::HasSubstr;

using Result = phi::testing::Printed;

Result run(std::vector<std::string> words) {
  words.insert(words.begin(), "spmd");
  return phi::testing::run_command([](int argc, char** argv) { return spmd_command(argc, argv); },
                                   std::move(words));
}

TEST(SpmdCommand, AsksListsAndChecks) {
  EXPECT_THAT(run({"relu", "--mesh=2", "--in=4[0]"}).out, HasSubstr("gives  out  4[0]"));
  EXPECT_THAT(run({"--list"}).out, HasSubstr("matmul"));
  const std::string cases =
      AUTOPHI_SOURCE_DIR "/tests/distributed/spmd/cases/elementwise_unary.yaml";
  const Result checked = run({"--cases=" + cases});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("0 failed"));
}

TEST(SpmdCommand, WhatIsNotReadIsAnError) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } rows[] = {
      {{}, "name an operator, or give --cases or --list; see autophi spmd --help."},
      {{"relu", "gelu"}, "two operators are named, 'relu' and 'gelu'."},
      {{"--rule"}, "unknown flag '--rule'"},
      {{"relu", "--mesh"}, "--mesh needs a value."},
      {{"--list=all"}, "--list takes no value, got 'all'."},
      {{"relu", "--strict=false"}, "--strict takes no value, got 'false'."},
      {{"--list", "x.yaml"}, "--cases goes with no --list and no --document."},
      {{"--list", "--differences=d"}, "--differences goes with --cases."},
      {{"relu", "--mesh=2", "--differences=d"}, "--differences goes with --cases."},
      {{"--list", "--mesh=2"},
       "--mesh goes with one question; --list, --document and --cases ask none."},
      {{"x.yaml", "--in=4[0]"}, "--in goes with one question"},
      {{"x.yaml", "--out=4[0]"}, "--out goes with one question"},
      {{"x.yaml", "--attr", "a=1"}, "--attr goes with one question"},
      {{"x.yaml", "--strict"}, "--strict goes with one question"},
      {{"x.yaml", "relu"}, "the operator 'relu' goes with one question"},
  };
  for (const auto& row : rows) {
    const Result r = run(row.words);
    EXPECT_EQ(r.status, 2) << row.message;
    EXPECT_THAT(r.err, HasSubstr(row.message));
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
