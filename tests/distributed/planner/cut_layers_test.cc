// Cuts against all cuts of random rows of layers.
#include "distributed/planner/cut_layers.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <random>

#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

// All ways to cut `layers` layers into `stages` stages, in lexicographic order.
void add_cuts(int64_t layers, int64_t stages, std::vector<int64_t> begun,
              std::vector<std::vector<int64_t>>* out) {
  if (stages == 1) {
    begun.push_back(layers);
    out->push_back(begun);
    return;
  }
  for (int64_t own = 1; own <= layers - (stages - 1); ++own) {
    begun.push_back(own);
    add_cuts(layers - own, stages - 1, begun, out);
    begun.pop_back();
  }
}

LayerCut best_of_all(const LayersToCut& layers, int64_t stages) {
  std::vector<std::vector<int64_t>> cuts;
  add_cuts(std::ssize(layers.costs), stages, {}, &cuts);
  LayerCut best{{}, std::numeric_limits<double>::infinity()};
  for (const auto& cut : cuts) {
    double largest = 0;
    bool fits = true;
    size_t layer = 0;
    for (size_t stage = 0; stage < cut.size(); ++stage) {
      double cost = 0;
      int64_t bytes = 0;
      for (int64_t i = 0; i < cut[stage]; ++i, ++layer) {
        cost += layers.costs[layer];
        bytes += layers.states[layer] + layers.bytes[layer] * layers.held[stage] +
                 layers.deferred_bytes[layer] * layers.deferred[stage];
      }
      largest = std::max(largest, cost);
      fits &= bytes <= layers.room;
    }
    if (fits && largest < best.largest) best = {cut, largest};
  }
  return best;
}

TEST(CutLayers, IsTheBestOfAllCuts) {
  std::mt19937 random(7);
  const auto draw = [&](int most) { return static_cast<int64_t>(random() % most + 1); };
  int none = 0;
  for (int i = 0; i < 500; ++i) {
    const int64_t stages = draw(4);
    LayersToCut layers;
    for (int64_t n = stages + draw(5) - 1; n > 0; --n) {
      layers.costs.push_back(static_cast<double>(draw(6)));
      layers.states.push_back(draw(5));
      layers.bytes.push_back(draw(3));
      layers.deferred_bytes.push_back(draw(3) - 1);
    }
    for (int64_t s = 0; s < stages; ++s) {
      layers.held.push_back(stages - s);
      layers.deferred.push_back(i % 2 == 0 ? 0 : s);
    }
    layers.room = draw(40);
    const LayerCut cut = cut_layers(layers, stages);
    const LayerCut best = best_of_all(layers, stages);
    EXPECT_EQ(cut.largest, best.largest) << "row " << i;
    EXPECT_EQ(cut.layers.empty(), best.layers.empty()) << "row " << i;
    none += best.layers.empty();
  }
  EXPECT_GT(none, 20);
  EXPECT_LT(none, 400);
}

TEST(CutLayers, TheHeadMakesTheLastStageShorter) {
  EXPECT_THAT(cut_layers({.costs = {1, 1, 1, 1, 1, 3}}, 2).layers, testing::ElementsAre(4, 2));
}

TEST(CutLayers, RefusesFewerLayersThanStages) {
  EXPECT_THAT(
      [] {
        cut_layers({.costs = {1, 1}}, 3);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "2 layers cannot be cut into 3 stages"));
  EXPECT_THAT(
      [] {
        cut_layers({.costs = {1, 1}, .states = {1}}, 2);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "2 costs, 1 states"));
  EXPECT_THAT(
      [] {
        cut_layers({.costs = {1, 1}, .deferred_bytes = {1, 1}, .deferred = {1}}, 2);
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "2 deferred bytes, and 2 stages have 0 numbers of "
                  "micro-batches and 1 of deferred ones"));
}

}  // namespace
}  // namespace phi::distributed
