// Activations of transformer layers.
#include "distributed/planner/activation_bytes.h"

#include <gtest/gtest.h>

#include "figures/table.h"

namespace phi::distributed {
namespace {

constexpr double kGiB = 1 << 30;

TEST(ActivationBytes, AreThePublishedOnes) {
  const struct {
    const char* name;
    bool sequence_parallel;
    Recompute recompute;
  } columns[] = {
      {"tp", false, Recompute::kNone},
      {"tp_sp", true, Recompute::kNone},
      {"tp_selective", false, Recompute::kSelective},
      {"tp_sp_selective", true, Recompute::kSelective},
      {"full", true, Recompute::kFull},
  };
  const YAML::Node table = figures::load("activation_bytes");
  int compared = 0;
  for (const YAML::Node& row : table["rows"]) {
    for (const auto& column : columns) {
      const TransformerLayer layer = {table["sequence"].as<int64_t>(),
                                      row["micro_batch"].as<int64_t>(),
                                      row["hidden"].as<int64_t>(),
                                      row["heads"].as<int64_t>(),
                                      table["tensor_parallel"].as<int64_t>(),
                                      column.sequence_parallel,
                                      column.recompute};
      // Whatever the number of stages is.
      for (const int64_t stages : {1, 4, 8}) {
        const double bytes =
            first_stage_activation_bytes(layer, row["layers"].as<int64_t>(), stages);
        const auto printed = row[column.name].as<std::string>();
        EXPECT_EQ(figures::as_printed(bytes / kGiB, printed), printed)
            << row["model"] << " " << column.name;
      }
      ++compared;
    }
  }
  EXPECT_EQ(compared, 10);
}

}  // namespace
}  // namespace phi::distributed
