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
  const std::string cases = AUTOPHI_SOURCE_DIR "/tests/ops/unary/exp.yaml";
  const Result checked = run({"--cases=" + cases});
  EXPECT_EQ(checked.status, 0) << checked.err;
  EXPECT_THAT(checked.out, HasSubstr("0 failed"));
}

TEST(SpmdCommand, WhatIsNotReadIsAnError) {
  const struct {
    std::vector<std::string> words;
    const char* message;
  } rows[] = {
      {{}, "name an operator, or pass --cases or --list; see autophi spmd --help."},
      {{"relu", "gelu"}, "two operators are named, 'relu' and 'gelu'."},
      {{"--rule"}, "unknown flag '--rule'"},
      {{"relu", "--mesh"}, "--mesh needs a value."},
      {{"--list=all"}, "--list accepts no value, got 'all'."},
      {{"relu", "--strict=false"}, "--strict accepts no value, got 'false'."},
      {{"--list", "x.yaml"}, "--cases requires no --list and no --document."},
      {{"--list", "--differences=d"}, "--differences requires --cases."},
      {{"relu", "--mesh=2", "--differences=d"}, "--differences requires --cases."},
      {{"--list", "--mesh=2"},
       "--mesh requires inference of a call, without --list, --document or --cases."},
      {{"x.yaml", "--in=4[0]"}, "--in requires inference of a call"},
      {{"x.yaml", "--out=4[0]"}, "--out requires inference of a call"},
      {{"x.yaml", "--attr", "a=1"}, "--attr requires inference of a call"},
      {{"x.yaml", "--strict"}, "--strict requires inference of a call"},
      {{"x.yaml", "relu"}, "the operator 'relu' requires inference of a call"},
  };
  for (const auto& row : rows) {
    const Result r = run(row.words);
    EXPECT_EQ(r.status, 2) << row.message;
    EXPECT_THAT(r.err, HasSubstr(row.message));
    EXPECT_EQ(r.out, "");
  }
}

}  // namespace
