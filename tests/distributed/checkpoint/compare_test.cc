// Differences of two checkpoints, by dtype.
#include "distributed/checkpoint/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <limits>

#include "temporary_folder.h"
#include "tensor_files.h"

namespace phi::distributed::checkpoint {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();
constexpr int64_t kLarge = int64_t{1} << 62;

struct Row {
  const char* what;
  NamedTensor a;
  NamedTensor b;
  int64_t elements;  // that differ; -1: not comparable
  double largest;
  double relative;
  int64_t where;
};

TEST(Compare, TellsHowFarTensorsAreApart) {
  const Row rows[] = {
      {"the same", named<float>("x", {1, 2}, {2}), named<float>("x", {1, 2}, {2}), 0, 0, 0, 0},
      {"numbers", named<float>("x", {1, 2, -4}, {3}), named<float>("x", {1, 2.5f, -6}, {3}), 2, 2,
       1.0 / 3, 2},
      {"another floating dtype", named<float>("x", {1, 2}, {2}),
       named<bfloat16>("x", {bfloat16(1.0f), bfloat16(4.0f)}, {2}), 1, 2, 0.5, 1},
      {"no numbers in both", named<float>("x", {kNan}, {1}), named<float>("x", {-kNan}, {1}), 0, 0,
       0, 0},
      {"no number in one", named<float>("x", {1, kNan}, {2}), named<float>("x", {2, 1}, {2}), 2,
       kInfinity, kInfinity, 1},
      {"zeros of two signs", named<float>("x", {0.0f}, {1}), named<float>("x", {-0.0f}, {1}), 0, 0,
       0, 0},
      {"integers", named<int64_t>("x", {kLarge, 3}, {2}), named<int64_t>("x", {kLarge + 1, 3}, {2}),
       1, 1, 1 / static_cast<double>(kLarge), 0},
      {"of other signs", named<int64_t>("x", {2 * (kLarge - 1)}, {}),
       named<int64_t>("x", {-kLarge}, {}), 1, 3 * static_cast<double>(kLarge), 1.5, 0},
      {"bytes", named<uint8_t>("x", {255, 0}, {2}), named<uint8_t>("x", {0, 0}, {2}), 1, 255, 1, 0},
      {"other shapes", named<float>("x", {1, 2}, {2}), named<float>("x", {1, 2}, {1, 2}), -1, 0, 0,
       0},
      {"dtypes that do not convert", named<float>("x", {1}, {1}), named<int32_t>("x", {1}, {1}), -1,
       0, 0, 0},
  };
  for (const Row& row : rows) {
    SCOPED_TRACE(row.what);
    const TemporaryFolder a;
    const TemporaryFolder b;
    save(a.path(), std::vector{row.a});
    save(b.path(), std::vector{row.b});
    const auto found = compare(open(a.path()), open(b.path()));
    ASSERT_EQ(found.size(), row.elements == 0 ? 0u : 1u);
    if (found.empty()) continue;
    EXPECT_EQ(found[0].kind == TensorDifference::Kind::kMeta, row.elements < 0);
    if (row.elements < 0) continue;
    EXPECT_EQ(found[0].elements, row.elements);
    EXPECT_DOUBLE_EQ(found[0].largest, row.largest);
    EXPECT_DOUBLE_EQ(found[0].relative, row.relative);
    EXPECT_EQ(found[0].where, row.where);
  }
}

// More than is compared at a time.
TEST(Compare, FindsThePlaceInALargeTensor) {
  const TemporaryFolder a;
  const TemporaryFolder b;
  std::vector<float> values(300'000, 1.0f);
  save(a.path(), std::vector{named<float>("x", values, {3, 100'000})});
  values[234'567] = 5;
  values[299'999] = 2;
  save(b.path(), std::vector{named<float>("x", values, {3, 100'000})});
  const auto found = compare(open(a.path()), open(b.path()));
  ASSERT_EQ(found.size(), 1u);
  EXPECT_EQ(found[0].to_string(open(a.path()), open(b.path())),
            "differs in 2 of 300000 elements, by up to 4 (at [2,34567]), relative 0.8");
}

}  // namespace
}  // namespace phi::distributed::checkpoint
