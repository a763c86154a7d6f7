// What check refuses, and what it says of it.
#include "distributed/pipeline/schedules/check.h"

#include <gtest/gtest.h>

#include "notation.h"
#include "support/error_matchers.h"

namespace phi::distributed::pipeline {
namespace {

TEST(Check, OtherPeoplesTablesPassToo) {
  EXPECT_NO_THROW(check(table(1, 2, {"F0 F1 I1 I0 W0 W1", "F0 F1 B1 B0"})));
  // Halves of a backward in any order that gradients allow.
  EXPECT_NO_THROW(check(table(2, 1, {"F0.0 F0.1 I0.1 I0.0 W0.0 W0.1"})));
}

TEST(Check, WhatIsWrongIsNamed) {
  const struct {
    Schedule schedule;
    const char* message;
  } cases[] = {
      {table(1, 2, {"F0 B0"}), "stage 0 has no forward of micro-batch 1."},
      {table(1, 1, {"F0 B0", "F0"}), "stage 1 has no backward of micro-batch 0."},
      {table(1, 1, {"F0 I0"}), "stage 0 has no backward_weight of micro-batch 0."},
      {table(2, 1, {"F0.0 F0.1 B0.1"}), "stage 0 has no backward of micro-batch 0, chunk 0."},
      {table(1, 1, {"F0 F0 B0"}), "stage 0 runs forward of micro-batch 0 a second time."},
      {table(1, 1, {"F0 B0 B0"}), "stage 0 runs backward of micro-batch 0 a second time."},
      {table(1, 1, {"F0 I0 B0"}), "stage 0 runs backward of micro-batch 0 a second time."},
      {table(1, 1, {"F0 B0 W0"}), "stage 0 runs backward_weight of micro-batch 0 a second time."},
      {table(1, 1, {"B0 F0"}), "stage 0 runs backward of micro-batch 0 before its forward."},
      {table(1, 1, {"F0 W0 I0"}),
       "stage 0 runs backward_weight of micro-batch 0 before its backward_input."},
      {table(1, 1, {"F0 B0 F1 B1"}),
       "stage 0 runs micro-batch 1 of chunk 0, but there are 1 micro-batches and 1 chunks."},
      {table(1, 1, {"F0.2 B0.2"}), "stage 0 runs micro-batch 0 of chunk 2"},
      {table(1, 0, {""}), "has 1 stages, 1 chunks and 0 micro-batches; each must be at least 1."},
      {Schedule{"mine", 2, 1, 1, {}}, "has 2 stages but 0 lists of actions."},
      {table(1, 2, {"F0 B0 F1 B1", "F0 F1 B0 B1"}), "schedule mine deadlocks: stage 0 waits at"},
      {table(2, 1, {"F0.1 F0.0 B0.1 B0.0"}),
       "waits at action 0, forward of micro-batch 0, chunk 1"},
  };
  for (const auto& c : cases) {
    EXPECT_THAT([&] { check(c.schedule); }, ThrowsError(ErrorCode::kInvalidArgument, c.message));
  }
}

TEST(Check, ATableKeepsTheMemoryBoundOfItsKind) {
  Schedule eager = gpipe(2, 4);
  EXPECT_NO_THROW(check(eager));
  eager.kind = "1f1b";
  EXPECT_THAT(
      [&] { check(eager); },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "schedule 1f1b: stage 0 has up to 4 micro-batches in flight, 4 with those that "
                  "wait for their backward_weight; its bounds are 2 and 2."));
  Schedule lazy = zero_bubble_h2(3, 8);
  lazy.kind = "zb_h1";
  EXPECT_THAT([&] { check(lazy); }, ThrowsError(ErrorCode::kInvalidArgument, "its bounds are"));
  lazy.kind = "mine";
  EXPECT_NO_THROW(check(lazy));
}

}  // namespace
}  // namespace phi::distributed::pipeline
