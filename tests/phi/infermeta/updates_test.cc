// What shape functions of optimizers' steps, image norms and unpadded attention refuse in words of
// their own; more in the records (tests/ops).
#include "phi/infermeta/updates.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>

#include "phi/infermeta/fused_attention.h"
#include "phi/infermeta/image_norm.h"
#include "phi/infermeta/merged_updates.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

constexpr auto kInvalid = ErrorCode::kInvalidArgument;

TensorMeta f32(const Dims& dims) { return {dims, DataType::FLOAT32}; }
TensorMeta i64(const Dims& dims) { return {dims, DataType::INT64}; }

TEST(Updates, TheWindowOfAnAverageHasItsBoundsInOrder) {
  const TensorMeta x = f32({3}), n = i64({1});
  EXPECT_THAT([&] { AverageAccumulatesInferMeta(x, x, x, x, n, n, n, 1, 10); },
              ThrowsError(kInvalid, "the lower bound may not exceed the upper one"));
}

TEST(Updates, ListsHaveAnElementForEachParam) {
  const TensorMeta x[] = {f32({3}), f32({4})};
  const TensorMeta rate[] = {f32({1})};
  EXPECT_THAT(
      [&] {
        MergedMomentumInferMeta({x, 1}, x, x, rate, {}, {}, {}, false);
      },
      ThrowsError(kInvalid, "grad has 2 elements for 1 params; pass one for each"));
  const auto [param, velocity, master] =
      MergedMomentumInferMeta(x, x, x, rate, {}, {"l2_decay", ""}, {0.1f, 0.0f}, false);
  EXPECT_EQ(param.size(), 2u);
  EXPECT_TRUE(master.empty());
}

TEST(ImageNorm, ScalesHaveANumberForEachChannel) {
  const TensorMeta x = f32({2, 3, 4}), three = f32({3}), four = f32({4});
  EXPECT_THAT([&] { BatchNormInferMeta(x, four, four, nullptr, nullptr, 1e-5f, "NCL"); },
              ThrowsError(kInvalid, "has 3 channels; mean must be [3]"));
  const TensorMeta wide{Dims{3}, DataType::FLOAT64};
  EXPECT_THAT(
      [&] { BatchNormInferMeta(x, wide, three, nullptr, nullptr, 1e-5f, "NCL"); },
      ThrowsError(kInvalid, "for x f32[2,3,4]: it must have dtype float32 or float32; cast it"));
}

TEST(ImageNorm, SpectralNormIsAlongTheOutputsOfALayer) {
  const TensorMeta weight = f32({3, 5, 2});
  EXPECT_EQ(SpectralNormInferMeta(weight, f32({5}), f32({6}), 1, 1), weight);
  EXPECT_THAT([&] { SpectralNormInferMeta(weight, f32({2}), f32({15}), 2, 1); },
              ThrowsError(kInvalid, "outputs of a layer are tensor dim 0 or 1 of its weight"));
}

TEST(UnpaddedAttention, QueriesAndKeysHaveAsManySequences) {
  const TensorMeta q = f32({9, 4, 6});
  EXPECT_THAT(
      [&] {
        FlashAttnUnpaddedInferMeta(q, q, q, i64({3}), i64({2}), nullptr, nullptr, 0, false, false,
                                   "");
      },
      ThrowsError(kInvalid, "both must have the same number of sequences"));
}

}  // namespace
}  // namespace phi
