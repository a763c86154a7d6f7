// Parameters of GPT models.
#include "distributed/planner/gpt_size.h"

#include <gtest/gtest.h>

#include "figures/table.h"

namespace phi::distributed {
namespace {

TEST(GptSize, ParametersAreThePublishedOnes) {
  const YAML::Node table = figures::load("gpt_size");
  ASSERT_EQ(table["rows"].size(), 5u);
  for (const YAML::Node& row : table["rows"]) {
    const GptShape shape = {row["layers"].as<int64_t>(), row["hidden"].as<int64_t>(),
                            table["sequence"].as<int64_t>(), table["vocabulary"].as<int64_t>()};
    const auto printed = row["parameters"].as<std::string>();
    EXPECT_EQ(figures::as_printed(gpt_parameters(shape) / 1e9, printed), printed);
  }
}

}  // namespace
}  // namespace phi::distributed
