// Shapes and error texts of matrix products.
#include "phi/infermeta/matmul.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "phi/common/errors.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

constexpr DataType kF32 = DataType::FLOAT32;

struct Row {
  Dims x;
  Dims y;
  bool transpose_x;
  bool transpose_y;
  Dims out;
};

TEST(MatmulInferMeta, Shapes) {
  const Row rows[] = {
      {{2, 3}, {3, 4}, false, false, {2, 4}},
      {{3, 2}, {4, 3}, true, true, {2, 4}},
      {{3}, {3}, true, false, Dims()},
      {{3}, {3, 4}, false, false, {4}},
      {{2, 3}, {3}, false, true, {2}},
      {{8, 2, 3}, {3, 4}, false, false, {8, 2, 4}},
      {{3}, {8, 3, 4}, false, false, {8, 4}},
      {{1, 6, 2, 3}, {7, 1, 3, 4}, false, false, {7, 6, 2, 4}},
      {{2, 0}, {0, 4}, false, false, {2, 4}},
      {{0, 2, 3}, {1, 3, 4}, false, false, {0, 2, 4}},
  };
  for (const Row& row : rows) {
    const TensorMeta out =
        MatmulInferMeta({row.x, kF32}, {row.y, kF32}, row.transpose_x, row.transpose_y);
    EXPECT_EQ(out.to_string(), TensorMeta({row.out, kF32}).to_string())
        << row.x.to_string() << " @ " << row.y.to_string();
  }
}

TEST(MatmulInferMeta, ErrorsNameShapesAndFlags) {
  const auto text = [](const TensorMeta& x, const TensorMeta& y) -> std::string {
    try {
      MatmulInferMeta(x, y, false, true);
    } catch (const Error& error) {
      return words_of(error);
    }
    return "no error";
  };
  using ::testing::HasSubstr;
  EXPECT_THAT(text({{2, 3}, kF32}, {{4, 5}, kF32}),
              HasSubstr("x is f32[2,3] and y is f32[4,5] with transpose_x=false, transpose_y=true: "
                        "the products are summed over x's tensor dim 1 (extent 3) and y's tensor "
                        "dim 1 (extent 5)"));
  EXPECT_THAT(text({{}, kF32}, {{4}, kF32}), HasSubstr("at least 1 tensor dim"));
  EXPECT_THAT(text({{4}, kF32}, {{4}, DataType::FLOAT64}), HasSubstr("the same dtype"));
  EXPECT_THAT(text({{4}, DataType::UINT8}, {{4}, DataType::UINT8}), HasSubstr("floating dtypes"));
  EXPECT_THAT(text({{2, 2, 3}, kF32}, {{5, 4, 3}, kF32}), HasSubstr("batch extents 2 and 5"));
}

}  // namespace
}  // namespace phi
