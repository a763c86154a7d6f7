// Model states under ZeRO.
#include "distributed/planner/model_states.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "figures/table.h"

namespace phi::distributed {
namespace {

// As printed by rounding, or by cutting off what follows the last digit.
std::vector<std::string> printed_either_way(double value, const std::string& printed) {
  const size_t point = printed.find('.');
  const double unit = point == std::string::npos
                          ? 1
                          : std::pow(10.0, -static_cast<double>(printed.size() - point - 1));
  return {figures::as_printed(value, printed),
          figures::as_printed(std::floor(value / unit) * unit, printed)};
}

TEST(ModelStates, BytesAreThePublishedOnes) {
  int compared = 0;
  for (const YAML::Node& row : figures::load("model_states")["rows"]) {
    for (int stage = 0; stage < 4; ++stage) {
      const double bytes =
          model_state_bytes(row["parameters"].as<double>(), static_cast<ZeroStage>(stage),
                            row["ranks"].as<int64_t>());
      const auto printed = row["stages"][stage].as<std::string>();
      EXPECT_THAT(printed_either_way(bytes / 1e9, printed), ::testing::Contains(printed))
          << row["parameters"] << ", stage " << stage;
      ++compared;
    }
  }
  EXPECT_EQ(compared, 12);
}

TEST(ModelStates, CommunicationIsThePublishedOne) {
  const YAML::Node published = figures::load("model_states")["communicated"];
  ASSERT_EQ(published.size(), 4u);
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(communicated_elements(1e9, static_cast<ZeroStage>(stage)),
              published[stage].as<double>() * 1e9);
  }
}

}  // namespace
}  // namespace phi::distributed
