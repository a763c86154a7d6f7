// Pictures of layouts: whole texts of small ones, then what others must and must not show.
#include "distributed/placement/picture.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::Not;

const ProcessMesh& square() {
  static const ProcessMesh mesh({2, 2}, {"dp", "tp"});
  return mesh;
}

std::string of(const Dims& shape, const ProcessMesh& mesh, std::initializer_list<Placement> how,
               PictureStyle style = {}) {
  return "\n" + picture(shape, *TensorDistAttr::get(mesh, how), style);
}

// An uneven dim down: the parts are as high as they are large.
TEST(Picture, AGridOfTwoSplitDims) {
  EXPECT_EQ(of({3, 4}, square(), {Shard(0), Shard(1)}), R"(
tensor [3,4] [S0,S1] on mesh(dp=2,tp=2)

     0:2        2:4
    +----------+----------+
    |          |          |
0:2 |    0     |    1     |
    |          |          |
    |          |          |
    +----------+----------+
2:3 |    2     |    3     |
    |          |          |
    +----------+----------+

rank 0 (dp=0,tp=0): [0:2,0:2], 4 elements
rank 1 (dp=0,tp=1): [0:2,2:4], 4 elements
rank 2 (dp=1,tp=0): [2:3,0:2], 2 elements
rank 3 (dp=1,tp=1): [2:3,2:4], 2 elements
)");
}

TEST(Picture, AddendsAndReplicasHaveSignsOfTheirOwn) {
  EXPECT_THAT(of({6, 4}, square(), {Shard(0), Partial()}),
              testing::AllOf(
                  HasSubstr("0+1"), HasSubstr("2+3"),
                  HasSubstr("partial over tp: the value is the sum of the local values of 2 ranks"),
                  HasSubstr("rank 3 (dp=1,tp=1): [3:6,0:4], 12 elements, partial")));
  EXPECT_THAT(of({6, 4}, square(), {Replicate(), Shard(0)}),
              testing::AllOf(HasSubstr(" 0,2 "), HasSubstr(" 1,3 "), Not(HasSubstr("partial"))));
  // Two replicas, each the largest of two values.
  EXPECT_THAT(of({6}, square(), {Replicate(), Partial(ReduceKind::kMax)}),
              HasSubstr("max(0,1), max(2,3)"));
  EXPECT_THAT(of({6}, square(), {Partial(), Partial()}), HasSubstr("0+1+2+3"));
  EXPECT_THAT(of({}, square(), {Replicate(), Replicate()}), HasSubstr("0-3"));
}

TEST(Picture, EmptyPartsAreInTheListAlone) {
  const std::string text = of({2}, ProcessMesh({3}, {"tp"}), {Shard(0)});
  EXPECT_THAT(text, HasSubstr("0:1"));
  EXPECT_THAT(text, HasSubstr("rank 2 (tp=2): [2:2], empty"));
  EXPECT_THAT(text, Not(HasSubstr("2:2 ")));
  EXPECT_THAT(of({0, 4}, square(), {Shard(0)}), HasSubstr("It has no elements."));
}

TEST(Picture, OfMoreDimsTheSplitOnesAreDrawn) {
  const std::string two = of({4, 7, 6}, square(), {Shard(0), Shard(2)});
  EXPECT_THAT(two, HasSubstr("dim 0 down, dim 2 across, dim 1 unsharded:"));
  const ProcessMesh cube({2, 2, 2});
  const std::string three = of({4, 6, 8}, cube, {Shard(0), Shard(1), Shard(2)});
  EXPECT_THAT(three, HasSubstr("dim 1 down, dim 2 across, dim 0 0:2:"));
  EXPECT_THAT(three, HasSubstr("dim 1 down, dim 2 across, dim 0 2:4:"));
}

TEST(Picture, SeveralMeshDimsSplitOneDimInTheirOrder) {
  EXPECT_THAT(of({8}, square(), {Shard(0), Shard(0)}),
              HasSubstr("|    0     |    1     |    2     |    3     |"));
  EXPECT_THAT(of({8}, square(), {Shard(0, 1), Shard(0, 0)}),
              HasSubstr("|    0     |    2     |    1     |    3     |"));
}

TEST(Picture, RanksOutsideTheMeshHoldNothing) {
  const ProcessMesh stage({2}, {"tp"}, {4, 6});
  EXPECT_THAT(of({8}, stage, {Shard(0)}, {.world_size = 8}),
              EndsWith("ranks 0-3,5,7: outside the mesh, no elements\n"));
  EXPECT_THAT(of({8}, stage, {Shard(0)}, {.world_size = 8}), HasSubstr("|    4     |    6     |"));
}

TEST(Picture, WhatHasNoRoomIsAList) {
  const ProcessMesh wide({64}, {"dp"});
  const std::string text = of({128}, wide, {Shard(0)}, {.width = 60});
  EXPECT_THAT(text, HasSubstr("Its 64 shards do not fit a picture of 60 columns."));
  EXPECT_THAT(text, HasSubstr("rank 63 (dp=63): [126:128], 2 elements"));
  EXPECT_THAT(of({100000}, ProcessMesh({100000}, {"dp"}), {Shard(0)}),
              HasSubstr("and 99936 ranks more"));
}

TEST(Picture, ColoursAreOfThePartsAndOnlyWhenAsked) {
  EXPECT_THAT(of({8}, square(), {Shard(0)}), Not(HasSubstr("\x1b[")));
  EXPECT_THAT(of({8}, square(), {Shard(0)}, {.colour = true}),
              testing::AllOf(HasSubstr("\x1b[30;48;5;117m"), HasSubstr("\x1b[30;48;5;229m")));
}

TEST(Picture, APlacementThatDoesNotFitIsRefused) {
  const auto* attr = TensorDistAttr::get(square(), {Shard(1)});
  EXPECT_THROW(picture({8}, *attr), phi::Error);
}

}  // namespace
}  // namespace phi::distributed
