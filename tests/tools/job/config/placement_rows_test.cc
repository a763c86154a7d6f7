// Rows as YAML: what is written is read again.
#include "tools/job/config/placement_rows.h"

#include <gtest/gtest.h>

#include <random>
#include <string>
#include <vector>

#include "api/nn/layout/parallelism.h"
#include "tests/support/error_matchers.h"
#include "tools/job/config/config.h"

namespace phi::job {
namespace {

using distributed::Partial;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;
using nn::Layout;

std::vector<Layout::PlacementRow> rows_of(const Layout& layout, Layout::Kind kind) {
  std::vector<Layout::PlacementRow> rows;
  for (const Layout::PlacementRow& row : layout.rows()) {
    if (row.kind == kind) rows.push_back(row);
  }
  return rows;
}

std::string indented(const std::string& text) {
  std::string out = "  ";
  for (const char letter : text) {
    out += letter;
    if (letter == '\n') out += "  ";
  }
  return out;
}

// Kinds are independent of each other, so each has its rows in order.
void expect_round_trip(const Layout& layout) {
  const std::string text = "placements:\n" + indented(to_yaml(layout));
  SCOPED_TRACE(text);
  const Layout parsed = parse_job(text, "job.yaml").placements;
  for (const Layout::Kind kind : {Layout::Kind::kParameters, Layout::Kind::kInputs,
                                  Layout::Kind::kOutputs, Layout::Kind::kCaches}) {
    const auto expected = rows_of(layout, kind);
    const auto rows = rows_of(parsed, kind);
    ASSERT_EQ(rows.size(), expected.size());
    for (size_t i = 0; i < rows.size(); ++i) {
      EXPECT_EQ(rows[i].pattern, expected[i].pattern);
      EXPECT_EQ(rows[i].axis_placements, expected[i].axis_placements);
    }
  }
}

TEST(PlacementRows, AreARowALine) {
  Layout layout;
  layout.outputs("layer*.down", {{"tp", Replicate()}})
      .parameters("layer*.up.weight", {{"tp", Shard(1)}, {"dp", Shard(0, 1)}})
      .parameters("*.scale", {});
  EXPECT_EQ(to_yaml(layout),
            "parameters:\n"
            "  layer*.up.weight: {tp: S1, dp: S0.1}\n"
            "  \"*.scale\": {}\n"
            "outputs:\n"
            "  layer*.down: {tp: R}\n");
  EXPECT_EQ(to_yaml(layout, Layout::Kind::kOutputs), "{layer*.down: {tp: R}}");
  EXPECT_EQ(to_yaml(layout, Layout::Kind::kCaches), "{}");
  expect_round_trip(layout);
}

TEST(PlacementRows, APatternThatOccursTwiceIsInAList) {
  Layout layout;
  layout.parameters("*", {{"tp", Replicate()}})
      .parameters("head", {{"tp", Shard(1)}})
      .parameters("*", {{"dp", Shard(0)}});
  EXPECT_EQ(to_yaml(layout, Layout::Kind::kParameters),
            "[{\"*\": {tp: R}}, {head: {tp: S1}}, {\"*\": {dp: S0}}]");
  expect_round_trip(layout);
}

TEST(PlacementRows, AnyRowsAreReadAsTheyWereWritten) {
  std::mt19937 random(7);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  const std::vector<distributed::Placement> placements = {
      Replicate(), Shard(0), Shard(8), Shard(2, 5), Partial(), Partial(ReduceKind::kProd)};
  const std::string letters = "ab.*?0{}[]:,#'\"&!|>%@~ -=\\";
  for (int trial = 0; trial < 300; ++trial) {
    Layout layout;
    for (size_t row = below(6); row > 0; --row) {
      std::string pattern(1 + below(5), ' ');
      for (char& letter : pattern) letter = letters[below(letters.size())];
      nn::AxisPlacements axis_placements;
      if (below(3) > 0) axis_placements.emplace_back("tp", placements[below(placements.size())]);
      if (below(3) > 0) axis_placements.emplace_back("dp", placements[below(placements.size())]);
      layout.add({static_cast<Layout::Kind>(below(4)), pattern, axis_placements});
    }
    expect_round_trip(layout);
  }
}

TEST(PlacementRows, ALayoutOfAnyModelCannotBeWritten) {
  EXPECT_THAT([] { to_yaml(nn::tensor_parallel("tp")); },
              ThrowsError(ErrorCode::kInvalidArgument, "write layout.of(model)"));
}

TEST(ParseRow, ReadsARowOfParameters) {
  const Layout::PlacementRow row = parse_row("head.weight={tp: R, dp: S0}");
  EXPECT_EQ(row.kind, Layout::Kind::kParameters);
  EXPECT_EQ(row.pattern, "head.weight");
  EXPECT_EQ(row.axis_placements, (nn::AxisPlacements{{"tp", Replicate()}, {"dp", Shard(0)}}));
}

TEST(ParseRow, QuotesWhatItCannotRead) {
  const auto error_of = [](const char* text) {
    try {
      parse_row(text);
    } catch (const Error& error) {
      return words_of(error);
    }
    return std::string("no error");
  };
  EXPECT_EQ(error_of("head.weight"),
            "'head.weight' is no row; write PATTERN={DIM: PLACEMENT}, e.g. head.weight={tp: R}.");
  EXPECT_EQ(error_of("={tp: R}").substr(0, 21), "'={tp: R}' is no row;");
  EXPECT_EQ(error_of("head={tp: 3}"),
            "'head={tp: 3}': '3' along mesh dim 'tp' is no placement; write R, S0, S0.1, P(sum), "
            "P(avg), P(max), ....");
  EXPECT_EQ(error_of("head=R"),
            "'head=R': placements are a map of mesh dims, e.g. {tp: S1, dp: R}; got 'R'.");
  EXPECT_EQ(error_of("head={tp: R").substr(0, 33), "'head={tp: R':1: not valid YAML: ");
}

}  // namespace
}  // namespace phi::job
