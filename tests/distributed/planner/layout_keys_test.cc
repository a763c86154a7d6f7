// Keys of layouts as text, and spaces without layouts.
#include "distributed/planner/layout_keys.h"

#include <gtest/gtest.h>

#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

const LayoutSpace kSpace = {.devices = 8, .global_batch = 12, .layers = 4};

LayoutSpace fixed(const std::vector<std::string>& texts) {
  LayoutSpace space = kSpace;
  fix_keys(texts, &space);
  return space;
}

// Except that an order that has no effect is not fixed.
TEST(LayoutKeys, AFixedKeyHasOneValueInAllLayouts) {
  for (const char* text :
       {"dp=2", "pp=2", "tp=4", "schedule=interleaved", "run.chunks=2", "micro_batches=3",
        "zero_stage=2", "sequence_parallel=true", "recompute=full"}) {
    const std::string pair = text;
    const std::string value = pair.substr(pair.find('=') + 1);
    const std::string name = pair.substr(pair.find('.') + 1);
    const auto& key = *std::ranges::find_if(
        layout_keys(), [&](const LayoutKey& each) { return name.starts_with(each.name); });
    const auto layouts = all_layouts(fixed({pair}));
    ASSERT_FALSE(layouts.empty()) << text;
    for (const JobLayout& layout : layouts) EXPECT_EQ(key.value(layout), value) << text;
    EXPECT_LT(layouts.size(), all_layouts(kSpace).size()) << text;
  }
}

// Each layout is found by its own values, and a space that allows all again has all layouts.
TEST(LayoutKeys, ValuesOfALayoutFixIt) {
  const auto all = all_layouts(kSpace);
  ASSERT_GT(all.size(), 100u);
  for (size_t i = 0; i < all.size(); i += 7) {
    LayoutSpace space = kSpace;
    for (const LayoutKey& key : layout_keys()) {
      key.fix(key.value(all[i]), &space);
      EXPECT_EQ(key.allowed(space), std::vector{key.value(all[i])});
    }
    EXPECT_EQ(all_layouts(space), std::vector{all[i]}) << to_string(all[i]);
    for (const LayoutKey& key : layout_keys()) key.allow_all(&space);
    EXPECT_EQ(all_layouts(space), all);
  }
}

TEST(LayoutKeys, ValuesAreAllowedOnce) {
  LayoutSpace space = kSpace;
  for (const JobLayout& layout : {JobLayout{.tp = 2}, JobLayout{.tp = 4}, JobLayout{.tp = 2}})
    layout_keys()[2].allow(layout, &space);
  EXPECT_EQ(space.tp, (std::vector<int64_t>{2, 4}));
}

TEST(LayoutKeys, MistakesAreNamed) {
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"tpp=2"}, "cannot fix tpp=2: expected KEY=VALUE with one of dp, pp, tp, "},
      {{"tp"}, "cannot fix tp: expected KEY=VALUE"},
      {{"tp=x"}, "cannot fix tp=x: 'x' is not a number."},
      {{"tp=-1"}, "cannot fix tp=-1: '-1' is not a number."},
      {{"zero_stage=4"}, "'4' is not among the values of the key: 0, 1, 2, 3."},
      {{"schedule=2f2b"}, "cannot fix schedule=2f2b: "},
      {{"tp=2", "dp=1", "tp=4"}, "cannot fix tp=4: tp is fixed to 2 already; fix a key once."}};
  for (const auto& [texts, message] : cases) {
    EXPECT_THAT([&] { fixed(texts); }, ThrowsError(ErrorCode::kInvalidArgument, message));
  }
  EXPECT_EQ(fixed({"tp=2", "tp=2"}).tp, std::vector<int64_t>{2});
}

TEST(LayoutKeys, ASpaceWithoutLayoutsNamesValuesThatHaveSome) {
  EXPECT_NO_THROW(check_has_layouts(kSpace));
  const std::pair<std::vector<std::string>, std::string> cases[] = {
      {{"tp=3"},
       "a job of 4 layers and 12 samples in a step has no layout on 8 devices with tp 3. With the "
       "others as they are, there are layouts with tp 1, 2, 4, 8."},
      {{"dp=8"}, "layouts with dp 1, 2, 4."},  // 12 samples
      {{"pp=8"}, "layouts with pp 1, 2, 4."},  // 4 layers
      {{"dp=4", "micro_batches=2"}, "layouts with dp 1, 2; or with micro_batches 1, 3."},
      {{"dp=3", "tp=3"}, "with dp 3, tp 3. Fix fewer keys."}};
  for (const auto& [texts, message] : cases) {
    EXPECT_THAT([&] { check_has_layouts(fixed(texts)); },
                ThrowsError(ErrorCode::kInvalidArgument, message));
  }
}

}  // namespace
}  // namespace phi::distributed
