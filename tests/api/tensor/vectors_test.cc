// Values of every dtype in and out of tensors as vectors.
#include <gmock/gmock.h>

#include "api/generated/ops/assign.h"
#include "api/tensor/from_vector.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rank_launcher.h"

namespace phi {
namespace {

using ::testing::ElementsAre;

template <typename T>
void expect_round_trip(std::vector<T> values) {
  const auto n = static_cast<int64_t>(values.size());
  const Tensor x = from_vector(values, {1, n});
  EXPECT_EQ(x.dtype(), dtype_of<T>());
  EXPECT_EQ(x.shape(), (Dims{1, n}));
  EXPECT_TRUE(x.to_vector<T>() == values) << name_of(x.dtype()) << " that waits";
  const Tensor computed = assign(x);
  EXPECT_TRUE(computed.to_vector<T>() == values) << name_of(x.dtype());
}

TEST(Vectors, OfEveryDtypeComeBack) {
  expect_round_trip<bool>({true, false, false, true, true});
  expect_round_trip<uint8_t>({0, 255, 7});
  expect_round_trip<int32_t>({-1, 2147483647});
  expect_round_trip<int64_t>({-1, int64_t{1} << 62});
  expect_round_trip<float16>({float16(0.5f), float16(-65504.0f)});
  expect_round_trip<bfloat16>({bfloat16(0.5f), bfloat16(3e38f)});
  expect_round_trip<float>({0.1f, -3e38f});
  expect_round_trip<double>({0.1, -1e300});
  expect_round_trip<bool>({});
  expect_round_trip<float>({});
}

TEST(Vectors, AnotherTypeIsRefusedAndNamesBoth) {
  const Tensor x = from_vector({1.0f}, {1});
  EXPECT_THAT([&] { (void)x.to_vector<double>(); },
              ThrowsError(ErrorCode::kInvalidArgument, "float64"));
  EXPECT_THAT([&] { (void)x.to_vector<double>(); },
              ThrowsError(ErrorCode::kInvalidArgument, "f32[1]"));
  EXPECT_THAT([&] { (void)x.to_vector<bool>(); }, ThrowsError(ErrorCode::kInvalidArgument, "bool"));
}

TEST(Vectors, OfAnotherLengthThanTheShapeAreRefused) {
  EXPECT_THAT(
      [] {
        from_vector({true, false}, {3});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "[3]"));
  EXPECT_THAT(
      [] {
        from_vector({1.0f, 2.0f}, {3});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "[3]"));
}

TEST(Vectors, OfADistributedTensorAreThoseOfThePart) {
  distributed::testing::on_ranks(2, [](distributed::World& world) {
    const Tensor x =
        distributed::shard_tensor(from_vector({true, false, true}, {3}),
                                  distributed::ProcessMesh({2}, {"x"}), {distributed::Shard(0)});
    if (world.rank() == 0) {
      EXPECT_THAT(x.to_vector<bool>(), ElementsAre(true, false));
    } else {
      EXPECT_THAT(x.to_vector<bool>(), ElementsAre(true));
    }
  });
}

}  // namespace
}  // namespace phi
