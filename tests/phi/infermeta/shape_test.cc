// Shapes and error texts of ops that move elements.
#include "phi/infermeta/shape.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/support/error_matchers.h"

namespace phi {
namespace {

TensorMeta f32(const Dims& dims) { return {dims, DataType::FLOAT32}; }

auto invalid(const std::string& text) { return ThrowsError(ErrorCode::kInvalidArgument, text); }

TEST(ReshapeInferMeta, MinusOneAndZero) {
  struct Row {
    Dims x;
    IntArray shape;
    Dims out;
  };
  const Row rows[] = {
      {{2, 3}, {6}, {6}},
      {{2, 3}, {3, -1}, {3, 2}},
      {{2, 3}, {0, -1}, {2, 3}},
      {{2, 3, 4}, {-1, 0}, {8, 3}},
      {{}, {1, 1}, {1, 1}},
      {{1}, {}, {}},
      {{0, 3}, {0, 5}, {0, 5}},
      {{0, 3}, {-1}, {0}},
      {{0, 3}, {-1, 3}, {0, 3}},
      {{4, 0}, {0, -1}, {4, 0}},
      {{2, 3}, {-1, 0, 1}, {2, 3, 1}},
  };
  for (const Row& row : rows) {
    EXPECT_EQ(ReshapeInferMeta(f32(row.x), row.shape).dims.to_string(), row.out.to_string())
        << row.x.to_string() << " to " << row.shape.to_string();
  }
}

TEST(ReshapeInferMeta, Errors) {
  EXPECT_THAT(
      [] {
        ReshapeInferMeta(f32({2, 3}), {4});
      },
      invalid("x f32[2,3] has 6 elements, but shape [4] has 4"));
  EXPECT_THAT(
      [] {
        ReshapeInferMeta(f32({2, 3}), {4, -1});
      },
      invalid("multiply to 4, which does not"));
  EXPECT_THAT(
      [] {
        ReshapeInferMeta(f32({2, 3}), {-1, -1});
      },
      invalid("shape is [-1,-1], but only one extent may be -1"));
  EXPECT_THAT([] { ReshapeInferMeta(f32({6}), {6, 0}); }, invalid("shape[1] of [6,0] is 0"));
  EXPECT_THAT([] { ReshapeInferMeta(f32({6}), {-6}); }, invalid("shape is [-6]"));
}

TEST(SqueezeInferMeta, RemovesOnlyOnes) {
  EXPECT_EQ(SqueezeInferMeta(f32({1, 3, 1}), {}).dims, (Dims{3}));
  EXPECT_EQ(SqueezeInferMeta(f32({1, 3, 1}), {-1}).dims, (Dims{1, 3}));
  EXPECT_EQ(SqueezeInferMeta(f32({1, 3, 1}), {0, 1}).dims, (Dims{3, 1}));
  EXPECT_EQ(SqueezeInferMeta(f32({1}), {}).dims, Dims());
  EXPECT_THAT(
      [] {
        SqueezeInferMeta(f32({1, 3}), {2});
      },
      ThrowsError(ErrorCode::kOutOfRange, "axis is 2"));
}

TEST(UnsqueezeInferMeta, AxesCountInTheGrowingShape) {
  EXPECT_EQ(UnsqueezeInferMeta(f32({2, 3}), {0}).dims, (Dims{1, 2, 3}));
  EXPECT_EQ(UnsqueezeInferMeta(f32({2, 3}), {-1}).dims, (Dims{2, 3, 1}));
  EXPECT_EQ(UnsqueezeInferMeta(f32({2, 3}), {1, 1}).dims, (Dims{2, 1, 1, 3}));
  EXPECT_EQ(UnsqueezeInferMeta(f32({2, 3}), {0, 3}).dims, (Dims{1, 2, 3, 1}));
  EXPECT_EQ(UnsqueezeInferMeta(f32({}), {0}).dims, (Dims{1}));
  EXPECT_THAT([] { UnsqueezeInferMeta(f32({2}), {2}); },
              ThrowsError(ErrorCode::kOutOfRange, "allows -2 to 1 here"));
}

TEST(TransposeInferMeta, PermNamesEachTensorDimOnce) {
  EXPECT_EQ(TransposeInferMeta(f32({2, 3, 4}), {2, 0, 1}).dims, (Dims{4, 2, 3}));
  EXPECT_EQ(TransposeInferMeta(f32({2, 3, 4}), {0, -1, -2}).dims, (Dims{2, 4, 3}));
  EXPECT_EQ(TransposeInferMeta(f32({}), {}).dims, Dims());
  EXPECT_THAT(
      [] {
        TransposeInferMeta(f32({2, 3}), {0});
      },
      invalid("perm is [0] for x f32[2,3], but it must name each of its 2 tensor dims"));
  EXPECT_THAT([] { TransposeInferMeta(f32({2, 3}), {0, 0}); }, invalid("perm is [0,0]"));
  EXPECT_THAT([] { TransposeInferMeta(f32({2, 3}), {0, 2}); }, invalid("perm is [0,2]"));
}

TEST(ConcatInferMeta, AddsExtentsOnTheAxis) {
  const TensorMeta x[] = {f32({2, 3}), f32({2, 0}), f32({2, 4})};
  EXPECT_EQ(ConcatInferMeta(x, 1).dims, (Dims{2, 7}));
  EXPECT_EQ(ConcatInferMeta(x, -1).dims, (Dims{2, 7}));
  EXPECT_THAT([&] { ConcatInferMeta(x, 0); }, invalid("x[0] is f32[2,3] and x[1] is f32[2,0]"));
  EXPECT_THAT([&] { ConcatInferMeta(x, 2); }, ThrowsError(ErrorCode::kOutOfRange, "axis is 2"));
  EXPECT_THAT([] { ConcatInferMeta({}, 0); }, invalid("x is an empty list"));
}

TEST(SplitInferMeta, SectionsAddUp) {
  const auto parts = SplitInferMeta(f32({2, 7}), {3, -1, 1}, -1);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[0].dims, (Dims{2, 3}));
  EXPECT_EQ(parts[1].dims, (Dims{2, 3}));
  EXPECT_EQ(parts[2].dims, (Dims{2, 1}));
  EXPECT_THAT(
      [] {
        SplitInferMeta(f32({2}), {2, -1}, 0);
      },
      invalid("infer it, unless the others exceed the extent"));
  EXPECT_THAT(
      [] {
        SplitInferMeta(f32({7}), {3, 3}, 0);
      },
      invalid("sections is [3,3] for axis 0 of x f32[7]: they must be at least 0 and add "
              "up to 7"));
  EXPECT_THAT([] { SplitInferMeta(f32({7}), {-1, -1}, 0); }, invalid("sections is [-1,-1]"));
  EXPECT_THAT([] { SplitInferMeta(f32({7}), {9, -1}, 0); }, invalid("sections is [9,-1]"));
  EXPECT_THAT([] { SplitInferMeta(f32({7}), {}, 0); }, invalid("sections is empty"));
}

TEST(SplitWithNumInferMeta, EqualPartsOnly) {
  const auto parts = SplitWithNumInferMeta(f32({6, 2}), 3, 0);
  ASSERT_EQ(parts.size(), 3u);
  EXPECT_EQ(parts[2].dims, (Dims{2, 2}));
  EXPECT_THAT([] { SplitWithNumInferMeta(f32({7}), 2, 0); },
              invalid("num is 2, but axis 0 of x f32[7] has extent 7"));
  EXPECT_THAT([] { SplitWithNumInferMeta(f32({7}), 0, 0); }, invalid("num is 0"));
}

TEST(SliceScatterInferMeta, TakesWhatTheSliceIs) {
  const auto scattered = [](const TensorMeta& value) {
    return SliceScatterInferMeta(f32({5, 6}), value, {1, 0}, {-2, 1}, {100, 2}, {0});
  };
  EXPECT_EQ(scattered(f32({2})), f32({5, 6}));
  EXPECT_THAT(
      [&] {
        scattered(f32({1, 2}));
      },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "value is f32[1,2], but the slice of x f32[5,6] that it replaces is f32[2]"));
  EXPECT_THAT([&] { scattered(f32({3})); }, ThrowsError(ErrorCode::kInvalidArgument, "f32[3]"));
  EXPECT_THAT(
      [&] {
        scattered({Dims{2}, DataType::INT64});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "value is i64[2]"));
}

TEST(SliceInferMeta, ClampsAndRemoves) {
  EXPECT_EQ(SliceInferMeta(f32({5, 6}), {0, 1}, {1, -2}, {3, 100}, {}, {}).dims, (Dims{2, 2}));
  EXPECT_EQ(SliceInferMeta(f32({5, 6}), {-1}, {4}, {2}, {}, {}).dims, (Dims{5, 0}));
  EXPECT_EQ(SliceInferMeta(f32({5}), {0}, {-1}, {5}, {}, {0}).dims, Dims());
  EXPECT_EQ(SliceInferMeta(f32({5, 6}), {0}, {2}, {3}, {}, {-2}).dims, (Dims{6}));
  EXPECT_THAT([] { SliceInferMeta(f32({5}), {0}, {0}, {3}, {}, {0}); },
              invalid("the slice has 3 elements there"));
  EXPECT_THAT(
      [] {
        SliceInferMeta(f32({5}), {0}, {0, 1}, {3}, {}, {});
      },
      invalid("axes names 1 tensor dims, but there are 2 starts and 1 ends"));
  EXPECT_THAT(
      [] {
        SliceInferMeta(f32({5, 6}), {0, -2}, {0, 0}, {1, 1}, {}, {});
      },
      invalid("tensor dim 0 of input f32[5,6] twice"));
}

TEST(ExpandAsInferMeta, OnlyOnesExpandToTheShapeOfY) {
  const TensorMeta y{{2, 3, 4}, DataType::INT32};
  EXPECT_EQ(ExpandAsInferMeta(f32({4}), y).to_string(), "f32[2,3,4]");
  EXPECT_EQ(ExpandAsInferMeta(f32({}), y).dims, y.dims);
  EXPECT_EQ(ExpandAsInferMeta(f32({3, 1}), y).dims, y.dims);
  EXPECT_EQ(ExpandAsInferMeta(f32({1}), f32({0})).dims, (Dims{0}));
  EXPECT_THAT([&] { ExpandAsInferMeta(f32({2}), y); },
              invalid("x is f32[2] and y is i32[2,3,4]: counted from the last"));
  EXPECT_THAT([&] { ExpandAsInferMeta(f32({1, 2, 3, 4}), y); }, invalid("x is f32[1,2,3,4]"));
}

TEST(ExpandInferMeta, OnlyOnesExpand) {
  EXPECT_EQ(ExpandInferMeta(f32({3, 1}), {-1, 4}).dims, (Dims{3, 4}));
  EXPECT_EQ(ExpandInferMeta(f32({3}), {2, 3}).dims, (Dims{2, 3}));
  EXPECT_EQ(ExpandInferMeta(f32({}), {2, 3}).dims, (Dims{2, 3}));
  EXPECT_EQ(ExpandInferMeta(f32({1}), {0}).dims, (Dims{0}));
  EXPECT_THAT([] { ExpandInferMeta(f32({3}), {4}); },
              invalid("x is f32[3] and shape is [4]: shape[0] must be 3 or -1"));
  EXPECT_THAT([] { ExpandInferMeta(f32({3}), {-1, 3}); }, invalid("shape[0] must be at least 0"));
  EXPECT_THAT([] { ExpandInferMeta(f32({2, 3}), {3}); }, invalid("at least as many extents"));
}

TEST(TrilInferMeta, NeedsMatrices) {
  EXPECT_EQ(TrilInferMeta(f32({2, 3, 4}), 1).dims, (Dims{2, 3, 4}));
  EXPECT_THAT([] { TrilInferMeta(f32({3}), 0); }, invalid("at least 2 tensor dims"));
}

}  // namespace
}  // namespace phi
