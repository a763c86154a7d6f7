// Operators of C++: values beside numbers, of every dtype, distributed, with gradients; what they
// refuse.
#include "api/tensor/operators.h"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include "api/generated/ops/full.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "tests/api/tensor/finite_differences.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rank_launcher.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::ElementsAre;

std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }
std::vector<bool> bools(const Tensor& x) { return x.to_vector<bool>(); }

TEST(Operators, OfTensorsAreTheOnesOfTheirNames) {
  const Tensor x = from_vector({1.0f, 2.0f, 3.0f, 4.0f}, {2, 2});
  const Tensor y = from_vector({4.0f, 8.0f}, {2});
  EXPECT_THAT(floats(x + y), ElementsAre(5, 10, 7, 12));
  EXPECT_THAT(floats(x - y), ElementsAre(-3, -6, -1, -4));
  EXPECT_THAT(floats(x * y), ElementsAre(4, 16, 12, 32));
  EXPECT_THAT(floats(x / y), ElementsAre(0.25, 0.25, 0.75, 0.5));
  EXPECT_THAT(floats(-x), ElementsAre(-1, -2, -3, -4));
}

TEST(Operators, TakeNumbersOnEitherSide) {
  const Tensor x = from_vector({1.0f, 2.0f, 4.0f}, {3});
  EXPECT_THAT(floats(x + 2), ElementsAre(3, 4, 6));
  EXPECT_THAT(floats(0.5 + x), ElementsAre(1.5, 2.5, 4.5));
  EXPECT_THAT(floats(x - 0.5f), ElementsAre(0.5, 1.5, 3.5));
  EXPECT_THAT(floats(1 - x), ElementsAre(0, -1, -3));
  EXPECT_THAT(floats(x * 3), ElementsAre(3, 6, 12));
  EXPECT_THAT(floats(-2.0 * x), ElementsAre(-2, -4, -8));
  EXPECT_THAT(floats(x / 8), ElementsAre(0.125, 0.25, 0.5));
  EXPECT_THAT(floats(4 / x), ElementsAre(4, 2, 1));
}

TEST(Operators, NumbersHaveTheBitsOfTheirTensorOperators) {
  const std::vector<float> values = {0.1f, -0.0f, 0.0f, 3e38f, -7.0f, 1e-45f, INFINITY};
  const Tensor x = from_vector(values, {7});
  for (const float s : {3.0f, 0.1f, -1.7f, 0.0f}) {
    for (size_t i = 0; i < values.size(); ++i) {
      const float v = values[i];
      const auto same = [&](const Tensor& got, float expected, const char* what) {
        const float g = floats(got)[i];
        EXPECT_TRUE((std::isnan(g) && std::isnan(expected)) ||
                    (g == expected && std::signbit(g) == std::signbit(expected)))
            << v << what << s << " gives " << g << " for " << expected;
      };
      same(x + s, v + s, " + ");
      same(x - s, v - s, " - ");
      same(s - x, s - v, " from ");
      same(x * s, v * s, " * ");
      same(x / s, v / s, " / ");
      same(-x, -v, " negated, not ");
    }
  }
}

TEST(Operators, IntegersStayIntegers) {
  const Tensor x = from_vector<int64_t>({7, -7, 9007199254740993}, {3});
  EXPECT_THAT((x + 1).to_vector<int64_t>(), ElementsAre(8, -6, 9007199254740994));
  EXPECT_THAT((x - 1.0).to_vector<int64_t>(), ElementsAre(6, -8, 9007199254740992));
  EXPECT_THAT((1 - x).to_vector<int64_t>(), ElementsAre(-6, 8, -9007199254740992));
  const Tensor bytes = from_vector<uint8_t>({3, 250}, {2});
  EXPECT_THAT((bytes - 2).to_vector<uint8_t>(), ElementsAre(1, 248));
  EXPECT_THAT((-from_vector<int32_t>({5, -6}, {2})).to_vector<int32_t>(), ElementsAre(-5, 6));
}

TEST(Operators, QuotientsOfIntegersAreFloats) {
  const Tensor x = from_vector<int64_t>({7, -6}, {2});
  EXPECT_THAT((x / 2).to_vector<float>(), ElementsAre(3.5f, -3.0f));
}

TEST(Operators, ANumberThatIntegersHaveNotIsRefused) {
  const Tensor x = from_vector<int32_t>({1, 2}, {2});
  EXPECT_THAT([&] { (void)(x + 0.5); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "0.500000 cannot be added to i32[2]: int32 cannot represent it"));
  EXPECT_THAT([&] { (void)(2.5f * x); }, ThrowsError(ErrorCode::kInvalidArgument, "multiplied"));
  EXPECT_THAT([&] { (void)(x > 0.5); }, ThrowsError(ErrorCode::kInvalidArgument, "compared"));
  EXPECT_THAT([&] { (void)(x + (int64_t{1} << 31)); },
              ThrowsError(ErrorCode::kInvalidArgument, "2147483648 cannot be added to i32[2]"));
  EXPECT_THAT([&] { (void)(x == std::nan("")); }, ThrowsError(ErrorCode::kInvalidArgument, "nan"));
  EXPECT_THAT([&] { (void)(x / 1e300); }, ThrowsError(ErrorCode::kInvalidArgument, "divisor"));
  EXPECT_THAT([&] { (void)(from_vector<uint8_t>({1}, {1}) == -1); },
              ThrowsError(ErrorCode::kInvalidArgument, "uint8 cannot represent it"));
  EXPECT_THAT([&] { (void)(from_vector({true}, {1}) == 2); },
              ThrowsError(ErrorCode::kInvalidArgument, "bool cannot represent it"));
  const int64_t lowest = std::numeric_limits<int64_t>::min();
  EXPECT_THAT(bools(from_vector<int64_t>({lowest, 0}, {2}) == lowest), ElementsAre(true, false));
}

TEST(Operators, ComparisonsKnowNaNAndBothSides) {
  const float nan = std::nanf("");
  const Tensor x = from_vector({1.0f, 2.0f, 3.0f, nan}, {4});
  const Tensor y = from_vector({2.0f, 2.0f, 2.0f, 2.0f}, {4});
  EXPECT_THAT(bools(x == y), ElementsAre(false, true, false, false));
  EXPECT_THAT(bools(x != y), ElementsAre(true, false, true, true));
  EXPECT_THAT(bools(x < y), ElementsAre(true, false, false, false));
  EXPECT_THAT(bools(x <= y), ElementsAre(true, true, false, false));
  EXPECT_THAT(bools(x > y), ElementsAre(false, false, true, false));
  EXPECT_THAT(bools(x >= y), ElementsAre(false, true, true, false));
  EXPECT_EQ(bools(x == 2), bools(x == y));
  EXPECT_EQ(bools(2 != x), bools(y != x));
  EXPECT_EQ(bools(x < 2.0), bools(x < y));
  EXPECT_EQ(bools(2 < x), bools(y < x));
  EXPECT_EQ(bools(x <= 2), bools(x <= y));
  EXPECT_EQ(bools(2 <= x), bools(y <= x));
  EXPECT_EQ(bools(x > 2), bools(x > y));
  EXPECT_EQ(bools(2 > x), bools(y > x));
  EXPECT_EQ(bools(x >= 2), bools(x >= y));
  EXPECT_EQ(bools(2 >= x), bools(y >= x));
  EXPECT_EQ(bools(2 == x), bools(x == y));
  EXPECT_EQ(bools(x != 2), bools(x != y));
}

TEST(Operators, CompoundOnesWriteToTheTensor) {
  Tensor x = full({2}, 8.0f);
  const Tensor other = x;  // a handle on the same
  x += full({1}, 2.0f);
  x -= 4;
  x *= 3.0f;
  x /= 2;
  EXPECT_THAT(floats(other), ElementsAre(9, 9));
  x += other;
  x -= full({2}, 2.0f);
  x *= full({2}, 0.5f);
  x /= full({2}, 4.0f);
  EXPECT_THAT(floats(other), ElementsAre(2, 2));
  EXPECT_THAT(
      [&] {
        x += full({3, 2}, 1.0f);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "the result f32[3,2] does not fit into"));
  Tensor leaf = full({2}, 1.0f);
  leaf.set_requires_grad();
  EXPECT_THAT([&] { leaf += 1; },
              ThrowsError(ErrorCode::kPreconditionNotMet, "is a leaf that requires a gradient"));
}

TEST(Operators, MixedDtypesAndShapesThatDoNotBroadcastNameBoth) {
  const Tensor x = full({2, 3}, 1.0f);
  EXPECT_THAT([&] { (void)(x + full({3}, 1, DataType::INT64)); },
              ThrowsError(ErrorCode::kInvalidArgument, "x is f32[2,3] and y is i64[3]"));
  EXPECT_THAT([&] { (void)(x < full({3}, 1.0, DataType::FLOAT64)); },
              ThrowsError(ErrorCode::kInvalidArgument, "f64[3]"));
  EXPECT_THAT([&] { (void)(x * full({2}, 1.0f)); },
              ThrowsError(ErrorCode::kInvalidArgument, "[2,3]"));
  EXPECT_THAT([&] { (void)(x * full({2}, 1.0f)); },
              ThrowsError(ErrorCode::kInvalidArgument, "[2]"));
  const Tensor same = x.to(DataType::FLOAT32);
  EXPECT_TRUE(same_tensor(same, x));
  EXPECT_EQ((x + full({3}, 1, DataType::INT64).to(DataType::FLOAT32)).dtype(), DataType::FLOAT32);
}

Tensor polynomial(const Tensor& x) {
  Tensor y = (2.0 * x + 1.0) * x - x / (x * x + 3.0) - 1 / (x + 5.0);
  y = y - (4.0 - x) / 2;
  y += x;
  y -= 0.5;
  y *= 3;
  return sum(-y);
}

TEST(Operators, GradientsAreFiniteDifferences) {
  testing::expect_finite_differences(polynomial, {0.5, -1.0, 2.0, 0.25}, {4});
}

TEST(Operators, DistributedOnesGiveTheSame) {
  for (const int64_t ranks : {2, 4}) {
    on_ranks(ranks, [&](World&) {
      const ProcessMesh mesh({ranks}, {"x"});
      const Tensor plain = deferred_gaussian({5, 3}, 0.0f, 1.0f, 11);
      for (const auto& placement : {distributed::Replicate(), Shard(0), Shard(1)}) {
        const Tensor x = shard_tensor(plain, mesh, {placement});
        const auto whole = [](const Tensor& y) { return distributed::unshard_dtensor(y); };
        EXPECT_EQ(floats(whole(2 - x * 3 + x / 7)), floats(2 - plain * 3 + plain / 7));
        EXPECT_EQ(bools(whole(x > 0.25)), bools(plain > 0.25));
        EXPECT_EQ((x > 0.25).placements()[0], placement);
        EXPECT_EQ(bools(whole(x != plain)), std::vector<bool>(15, false));
        Tensor written = shard_tensor(plain + 0, mesh, {placement});
        written *= 2;
        EXPECT_EQ(floats(whole(written)), floats(plain * 2));
        EXPECT_EQ(written.placements()[0], placement);
      }
      testing::expect_finite_differences(
          [&](const Tensor& x) { return polynomial(shard_tensor(x, mesh, {Shard(0)})); },
          {0.5, -1.0, 2.0, 0.25, 0.125}, {5});
    });
  }
}

}  // namespace
}  // namespace phi
