// When it makes no sense to try again, and the table of what was tried.
#include "distributed/supervise/attempts.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <vector>

namespace phi::distributed::supervise {
namespace {

using ::testing::HasSubstr;
using Step = std::optional<int64_t>;

int64_t failures_after(const std::vector<Step>& steps) {
  StepFailures failures;
  for (const Step& step : steps) failures.note(step);
  return failures.here();
}

TEST(StepFailures, CountThoseAtOneStep) {
  EXPECT_EQ(failures_after({}), 0);
  EXPECT_EQ(failures_after({7, 7, 7}), 3);
  EXPECT_EQ(failures_after({7, 8, 9}), 1);
  EXPECT_EQ(failures_after({Step(), Step()}), 2) << "before the first step";
}

TEST(StepFailures, ForgetAStepThatWasPassed) {
  EXPECT_EQ(failures_after({7, 7, 9, 7}), 1);
  EXPECT_EQ(failures_after({Step(), Step(), 1, Step()}), 1);
}

TEST(StepFailures, RememberAStepThatWasNotReachedSince) {
  EXPECT_EQ(failures_after({7, 7, 5, Step(), 7}), 3);
}

TEST(Attempts, TableHasARowForEach) {
  const std::vector<Attempt> attempts = {
      {.took = std::chrono::seconds(3723),
       .ranks = 8,
       .mesh = "dp=4,pp=2",
       .step = 137,
       .why = "exit status 1: rank 3: no"},
      {.took = std::chrono::seconds(1), .ranks = 4, .step = {}, .why = "exit status 1"}};
  const std::string table = table_of(attempts);
  EXPECT_THAT(table, HasSubstr("1:02:03      8  dp=4,pp=2                  137  exit status 1: "
                               "rank 3: no\n"));
  EXPECT_THAT(table, HasSubstr("0:00:01      4  of the job               start  exit status 1\n"));
}

}  // namespace
}  // namespace phi::distributed::supervise
