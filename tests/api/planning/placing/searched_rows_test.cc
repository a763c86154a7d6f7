// Rows of a searched model of three blocks.
#include "api/planning/placing/searched_rows.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace phi::planning {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::TensorDistAttr;
using Kind = nn::Layout::Kind;

Reason reason(Kind kind, std::string name, const Placement& placement,
              Decided decided = Decided::kCost) {
  Reason out{.kind = kind, .name = std::move(name), .decided = decided};
  out.attr = TensorDistAttr::get(ProcessMesh({2}, {"tp"}), {placement});
  return out;
}

std::vector<std::string> texts_of(const nn::Layout& rows) {
  std::vector<std::string> out;
  for (const nn::Layout::PlacementRow& row : rows.rows()) {
    std::string text = std::string(nn::name_of(row.kind)) + " " + row.pattern;
    for (const auto& [dim, placement] : row.axis_placements)
      text += " " + dim + ": " + placement.to_string();
    out.push_back(std::move(text));
  }
  return out;
}

TEST(SearchedRows, AllBlocksHaveThePlacementsOfTheMiddleOne) {
  ExplainedLayers explained{.mesh_dims = {"tp"}, .declared = {}, .best = {}};
  explained.declared.reasons = {reason(Kind::kParameters, "tokens", Replicate()),
                                reason(Kind::kParameters, "layer0.up", Shard(1)),
                                reason(Kind::kParameters, "layer1.up", Shard(1)),
                                reason(Kind::kParameters, "layer2.up", Shard(1)),
                                reason(Kind::kParameters, "layer1.down", Shard(0)),
                                reason(Kind::kParameters, "layer10x.up", Shard(0)),
                                reason(Kind::kInputs, "layer1", Shard(1))};
  explained.best.reasons = {reason(Kind::kParameters, "tokens", Shard(1)),
                            reason(Kind::kParameters, "layer0.up", Replicate()),
                            reason(Kind::kParameters, "layer1.up", Shard(0)),
                            reason(Kind::kParameters, "layer2.up", Shard(1)),
                            reason(Kind::kParameters, "layer1.down", Shard(0)),
                            reason(Kind::kParameters, "layer10x.up", Shard(1)),
                            reason(Kind::kParameters, "layer1.pinned", Shard(1), Decided::kPin),
                            reason(Kind::kInputs, "layer1", Shard(1)),
                            reason(Kind::kOutputs, "layer1", Shard(2)),
                            reason(Kind::kOutputs, "layer2", Shard(1))};
  EXPECT_EQ(texts_of(searched_rows(explained, "layer")),
            (std::vector<std::string>{"parameters tokens tp: S1", "parameters layer*.up tp: S0",
                                      "parameters layer10x.up tp: S1", "outputs layer* tp: S2"}));
}

TEST(SearchedRows, AModelThatDeclaresTheBestHasNone) {
  ExplainedLayers explained{.mesh_dims = {"tp"}, .declared = {}, .best = {}};
  explained.best.reasons = {reason(Kind::kParameters, "layer0.up", Shard(0))};
  explained.declared.reasons = explained.best.reasons;
  EXPECT_TRUE(searched_rows(explained, "layer").rows().empty());
  explained.declared.reasons.clear();
  EXPECT_EQ(texts_of(searched_rows(explained, "layer")),
            std::vector<std::string>{"parameters layer*.up tp: S0"});
}

}  // namespace
}  // namespace phi::planning
