// The bubble rates of 1F1B, ZB-H1 and ZB-H2.
#include <gtest/gtest.h>

#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/simulator/simulate_schedule.h"
#include "figures/table.h"

namespace phi::distributed::pipeline {
namespace {

TEST(PipelineSchedules, BubbleRatesAreThePublishedOnes) {
  int compared = 0;
  for (const YAML::Node& row : figures::load("pipeline_schedules")["rows"]) {
    const ActionTimes times = {row["forward"].as<double>(), row["backward"].as<double>(),
                               row["weight"].as<double>(), row["comm"].as<double>()};
    for (const char* kind : {"1f1b", "zb_h1", "zb_h2"}) {
      const Schedule schedule = make_schedule(parse_schedule_kind(kind), row["stages"].as<int>(),
                                              row["micro_batches"].as<int>());
      const auto printed = row[kind].as<std::string>();
      EXPECT_EQ(
          figures::as_printed(simulator::simulate_schedule(schedule, times).bubble_rate, printed),
          printed)
          << row["model"] << ", " << schedule.micro_batches << " micro-batches, " << kind;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 18);
}

}  // namespace
}  // namespace phi::distributed::pipeline
