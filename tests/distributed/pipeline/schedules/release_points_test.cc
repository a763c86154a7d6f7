// Buffers of transfers are released once, after their use, and where the sender has an answer.
#include "distributed/pipeline/schedules/release_points.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "notation.h"

namespace phi::distributed::pipeline {
namespace {

// The action that consumes a transfer.
size_t consumer_of(const Schedule& schedule, const std::vector<ScheduleStep>& order, size_t sent) {
  const ScheduleStep& transfer = order[sent];
  const bool is_forward = transfer.kind == ScheduleStep::kTransferForward;
  const int from = schedule.virtual_stage(transfer.stage, transfer.action.chunk);
  const auto found = std::ranges::find_if(order, [&](const ScheduleStep& step) {
    return step.kind == ScheduleStep::kAction && step.action.kind != ActionKind::kBackwardWeight &&
           (step.action.kind == ActionKind::kForward) == is_forward &&
           step.action.micro_batch == transfer.action.micro_batch &&
           schedule.virtual_stage(step.stage, step.action.chunk) == from + (is_forward ? 1 : -1);
  });
  return static_cast<size_t>(found - order.begin());
}

TEST(ReleasePoints, EachTransferIsReleasedOnceAndNotBeforeItsUse) {
  for (const Schedule& schedule : many_schedules()) {
    SCOPED_TRACE(name_of(schedule));
    const auto order = program_order(schedule);
    const auto released = release_points(schedule, order);
    ASSERT_EQ(released.size(), order.size());
    std::vector<int> times(order.size(), 0);
    for (size_t at = 0; at < order.size(); ++at) {
      for (const size_t sent : released[at]) {
        ++times[sent];
        EXPECT_GE(at, consumer_of(schedule, order, sent));
        const bool is_last = at + 1 == order.size();
        const bool is_own = at == consumer_of(schedule, order, sent);  // between own chunks
        EXPECT_TRUE(is_last || is_own || order[at].stage == order[sent].stage);
      }
    }
    for (size_t i = 0; i < order.size(); ++i) {
      EXPECT_EQ(times[i], order[i].kind == ScheduleStep::kAction ? 0 : 1);
    }
  }
}

// In a long run of 1F1B, a stage keeps no more messages than micro-batches are under way.
TEST(ReleasePoints, FewMessagesAreKeptIn1F1B) {
  const Schedule schedule = make_schedule(ScheduleKind::k1F1B, 4, 32);
  const auto order = program_order(schedule);
  const auto released = release_points(schedule, order);
  std::vector<int> kept(4, 0);
  for (size_t at = 0; at + 1 < order.size(); ++at) {
    if (order[at].kind != ScheduleStep::kAction) {
      EXPECT_LE(++kept[static_cast<size_t>(order[at].stage)], 6);
    }
    for (const size_t sent : released[at]) --kept[static_cast<size_t>(order[sent].stage)];
  }
}

}  // namespace
}  // namespace phi::distributed::pipeline
