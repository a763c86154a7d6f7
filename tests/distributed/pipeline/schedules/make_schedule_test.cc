// The tables of the known schedules.
#include "distributed/pipeline/schedules/make_schedule.h"

#include <gtest/gtest.h>

#include "distributed/pipeline/schedules/check.h"
#include "distributed/pipeline/schedules/peak_memory.h"
#include "notation.h"
#include "support/error_matchers.h"

namespace phi::distributed::pipeline {
namespace {

TEST(MakeSchedule, SmallTables) {
  const struct {
    ScheduleKind kind;
    int stages;
    int micro_batches;
    int chunks;
    std::vector<const char*> rows;
  } cases[] = {
      {ScheduleKind::kGPipe, 2, 2, 1, {"F0 F1 B0 B1", "F0 F1 B0 B1"}},
      {ScheduleKind::k1F1B,
       3,
       4,
       1,
       {"F0 F1 F2 B0 F3 B1 B2 B3", "F0 F1 B0 F2 B1 F3 B2 B3", "F0 B0 F1 B1 F2 B2 F3 B3"}},
      // Fewer micro-batches than stages: all are warm-up on the first stages.
      {ScheduleKind::k1F1B, 3, 1, 1, {"F0 B0", "F0 B0", "F0 B0"}},
      {ScheduleKind::kInterleaved,
       2,
       2,
       2,
       {"F0.0 F1.0 F0.1 F1.1 B0.1 B1.1 B0.0 B1.0", "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 B0.0 B1.0"}},
      {ScheduleKind::kInterleaved,
       2,
       4,
       2,
       {"F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 F3.0 B1.1 F2.1 B0.0 F3.1 B1.0 B2.1 B3.1 B2.0 B3.0",
        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 F3.0 B1.0 F2.1 B2.1 F3.1 B3.1 B2.0 B3.0"}},
      // The same without micro-batch 3.
      {ScheduleKind::kInterleaved,
       2,
       3,
       2,
       {"F0.0 F1.0 F0.1 F1.1 F2.0 B0.1 B1.1 F2.1 B0.0 B1.0 B2.1 B2.0",
        "F0.0 F1.0 F0.1 B0.1 F1.1 B1.1 F2.0 B0.0 B1.0 F2.1 B2.1 B2.0"}},
      {ScheduleKind::kInterleaved, 2, 2, 1, {"F0 F1 B0 B1", "F0 B0 F1 B1"}},
      {ScheduleKind::kZeroBubbleH1,
       3,
       4,
       1,
       {"F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3", "F0 F1 I0 F2 I1 W0 F3 I2 W1 I3 W2 W3",
        "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3"}},
      {ScheduleKind::kZeroBubbleH2,
       2,
       4,
       1,
       {"F0 F1 F2 I0 W0 F3 I1 W1 I2 W2 I3 W3", "F0 I0 F1 I1 F2 I2 W0 F3 I3 W1 W2 W3"}},
  };
  for (const auto& c : cases) {
    const Schedule schedule = make_schedule(c.kind, c.stages, c.micro_batches, c.chunks);
    ASSERT_EQ(schedule.actions.size(), c.rows.size());
    EXPECT_EQ(schedule.kind, name_of(c.kind));
    for (int stage = 0; stage < c.stages; ++stage) {
      EXPECT_EQ(text_of(schedule, stage), c.rows[static_cast<size_t>(stage)])
          << name_of(schedule) << ", stage " << stage;
    }
  }
}

TEST(MakeSchedule, EveryTablePassesItsCheck) {
  for (const Schedule& schedule : many_schedules()) {
    EXPECT_NO_THROW(check(schedule)) << name_of(schedule);
  }
}

TEST(MakeSchedule, PeakMemoryIsThePublishedOne) {
  constexpr int kStages = 8;
  constexpr int kMicroBatches = 24;
  const auto first_stage = [](ScheduleKind kind, int chunks = 1) {
    return peak_micro_batches(make_schedule(kind, kStages, kMicroBatches, chunks))[0];
  };
  EXPECT_EQ(first_stage(ScheduleKind::kGPipe).input, kMicroBatches);
  EXPECT_EQ(first_stage(ScheduleKind::k1F1B).input, kStages);
  EXPECT_EQ(first_stage(ScheduleKind::kZeroBubbleH1).input, kStages);
  EXPECT_EQ(first_stage(ScheduleKind::kZeroBubbleH2).input, 2 * kStages - 1);
  // p (1 + (p - 1) / (p v)) micro-batches of v chunks each (Korthikanti et al. 2022).
  EXPECT_EQ(first_stage(ScheduleKind::kInterleaved, 2).input, 2 * kStages + kStages - 1);
}

// The bounds are reached, not just kept: on every stage, with enough micro-batches.
TEST(MakeSchedule, MemoryBoundsAreTight) {
  for (const ScheduleKind kind : kScheduleKinds) {
    const Schedule schedule =
        make_schedule(kind, 5, 40, kind == ScheduleKind::kInterleaved ? 3 : 1);
    const auto peaks = peak_micro_batches(schedule);
    for (int stage = 0; stage < 5; ++stage) {
      const MemoryBound bound = memory_bound(kind, schedule, stage);
      EXPECT_EQ(peaks[static_cast<size_t>(stage)].input, bound.input) << name_of(schedule);
      EXPECT_EQ(peaks[static_cast<size_t>(stage)].weight, bound.weight) << name_of(schedule);
      EXPECT_EQ(peaks[static_cast<size_t>(stage)].total, bound.total) << name_of(schedule);
    }
  }
}

// Forwards of each chunk before the first backward, counted.
std::vector<int> forwards_before_a_backward(const Schedule& schedule, int stage) {
  std::vector<int> count(static_cast<size_t>(schedule.chunks));
  for (const Action& action : schedule.actions[static_cast<size_t>(stage)]) {
    if (action.kind != ActionKind::kForward) break;
    ++count[static_cast<size_t>(action.chunk)];
  }
  return count;
}

TEST(MakeSchedule, TheFirstBackwardFollowsTheForwardsOfEachChunk) {
  for (const ScheduleKind kind : kScheduleKinds) {
    for (const int stages : {1, 2, 3, 5}) {
      for (const int micro_batches : {1, 2, 3, 4, 7, 12}) {
        for (const int chunks : {1, 2, 3}) {
          if (chunks > 1 && kind != ScheduleKind::kInterleaved) continue;
          const Schedule schedule = make_schedule(kind, stages, micro_batches, chunks);
          for (int stage = 0; stage < stages; ++stage) {
            EXPECT_EQ(held_by_chunk(kind, schedule, stage),
                      forwards_before_a_backward(schedule, stage))
                << schedule.kind << " " << stages << " " << micro_batches << " " << chunks;
          }
        }
      }
    }
  }
}

TEST(MakeSchedule, WrongNumbersAreNamed) {
  const auto make = [](ScheduleKind kind, int stages, int micro_batches, int chunks) {
    return [=] { make_schedule(kind, stages, micro_batches, chunks); };
  };
  const auto kCode = ErrorCode::kInvalidArgument;
  EXPECT_THAT(make(ScheduleKind::k1F1B, 0, 4, 1),
              ThrowsError(kCode, "stages of at least 1, got 0"));
  EXPECT_THAT(make(ScheduleKind::k1F1B, 4, -1, 1),
              ThrowsError(kCode, "micro_batches of at least 1, got -1"));
  EXPECT_THAT(make(ScheduleKind::kInterleaved, 4, 4, 0),
              ThrowsError(kCode, "chunks of at least 1, got 0"));
  EXPECT_THAT(make(ScheduleKind::kZeroBubbleH1, 4, 4, 2),
              ThrowsError(kCode,
                          "zb_h1 runs 1 model chunk per stage, got chunks = 2; use "
                          "interleaved"));
  EXPECT_THAT(make(ScheduleKind::kInterleaved, 2147483647, 2147483647, 2147483647),
              ThrowsError(kCode, "use fewer micro-batches"));
}

TEST(MakeSchedule, ManyStagesWithFewMicroBatchesAreQuick) {
  EXPECT_NO_THROW(check(interleaved(20000, 1, 2)));
}

TEST(ScheduleKind, NamesAreParsedBack) {
  for (const ScheduleKind kind : kScheduleKinds) {
    EXPECT_EQ(parse_schedule_kind(name_of(kind)), kind);
  }
  EXPECT_THAT([] { parse_schedule_kind("zb_h3"); },
              ThrowsError(ErrorCode::kNotFound,
                          "there is no pipeline schedule 'zb_h3', did you mean 'zb_h1'? Kinds: "
                          "gpipe, 1f1b, interleaved, zb_h1, zb_h2."));
}

}  // namespace
}  // namespace phi::distributed::pipeline
