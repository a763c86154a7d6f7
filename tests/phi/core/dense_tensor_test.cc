// DenseTensor: reading, views, and what a placeholder says when it is read.
#include "phi/core/dense_tensor.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "phi/core/box.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

DenseTensor counting(const Dims& dims) {
  std::vector<float> values(dims.numel());
  std::iota(values.begin(), values.end(), 0.0f);
  return DenseTensor::from<float>(values, dims);
}

TEST(DenseTensor, HoldsACopyOfTheValuesGiven) {
  const DenseTensor x = counting({2, 3});
  EXPECT_EQ(x.meta().to_string(), "f32[2,3]");
  EXPECT_EQ(x.nbytes_here(), 24u);
  EXPECT_THAT(x.values<float>(), ::testing::ElementsAre(0, 1, 2, 3, 4, 5));
  EXPECT_THAT([] { counting({2}).view({3}); },
              ThrowsError(ErrorCode::kInvalidArgument, "f32[2] cannot be viewed as [3]"));
  const std::vector<float> two = {1, 2};
  EXPECT_THAT([&] { DenseTensor::from<float>(two, {3}); },
              ThrowsError(ErrorCode::kInvalidArgument, "2 values are passed for a tensor [3]"));
}

TEST(DenseTensor, ViewsShareTheStorage) {
  DenseTensor x = counting({4, 3});
  DenseTensor flat = x.view({12});
  DenseTensor middle = x.rows(1, 3);
  EXPECT_EQ(middle.dims(), (Dims{2, 3}));
  EXPECT_EQ(middle.values<float>()[0], 3);
  middle.mutable_data<float>()[0] = 100;
  EXPECT_EQ(flat.values<float>()[3], 100);
  EXPECT_EQ(middle.view({3, 2}).values<float>()[0], 100);
  EXPECT_EQ(middle.rows(1, 2).values<float>()[0], 6);
  EXPECT_EQ(x.rows(4, 4).numel(), 0);
  EXPECT_EQ(middle.storage(), x.storage());
  EXPECT_THAT([&] { x.rows(2, 5); },
              ThrowsError(ErrorCode::kOutOfRange, "rows 2 to 5 of f32[4,3] do not exist"));
}

TEST(DenseTensor, ClonesHaveBytesOfTheirOwn) {
  DenseTensor x = counting({4, 3});
  const DenseTensor copy = x.rows(1, 3).clone();
  x.mutable_data<float>()[3] = 100;
  EXPECT_THAT(copy.values<float>(), ::testing::ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_NE(copy.storage()->id(), x.storage()->id());
  EXPECT_EQ(counting({0, 3}).clone().numel(), 0);
}

TEST(DenseTensor, SizesBeyond64BitsAreRefused) {
  constexpr int64_t kHalf = int64_t{1} << 32;
  const auto too_large = ThrowsError(ErrorCode::kInvalidArgument, "is too large");
  for (const Dims& dims : {Dims{kHalf, kHalf}, Dims{int64_t{1} << 61}, Dims{0, kHalf, kHalf}}) {
    EXPECT_THAT([&] { DenseTensor::empty({dims, DataType::FLOAT32}, CPUPlace()); }, too_large);
  }
  EXPECT_THAT([&] { counting({0}).view({kHalf, kHalf, 0}); }, too_large);
}

TEST(DenseTensor, AnEmptyArrayIsInitialized) {
  const DenseTensor x = counting({0, 3});
  EXPECT_TRUE(x.initialized());
  EXPECT_EQ(x.nbytes_here(), 0u);
  EXPECT_FALSE(DenseTensor().initialized());
}

TEST(DenseTensor, ReadingTheWrongWayIsAnError) {
  const DenseTensor x = counting({2});
  EXPECT_THAT([&] { x.data<double>(); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "a tensor f32[2] is read as float64; cast it first."));
  const DenseTensor undefined = DenseTensor();
  EXPECT_THAT([&] { undefined.raw_data(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "an undefined tensor is read"));
}

TEST(DenseTensor, APlaceholderSaysWhoMadeItAndWhyItHasNoBytes) {
  static const std::string mesh = "mesh(pp=1; ranks 2,3)";
  const Storage::Absence absence = {
      "matmul", "this rank is outside the tensor's mesh", &mesh,
      [](const void* subject) { return *static_cast<const std::string*>(subject); }};
  const DenseTensor x({{64, 32}, DataType::BFLOAT16}, Storage::placeholder(CPUPlace(), absence));
  EXPECT_TRUE(x.defined());
  EXPECT_FALSE(x.initialized());
  EXPECT_EQ(x.nbytes_here(), 0u);
  EXPECT_EQ(x.dims(), (Dims{64, 32}));
  EXPECT_THAT([&] { x.data<bfloat16>(); },
              ThrowsError(ErrorCode::kPreconditionNotMet,
                          "bf16[64,32], made by matmul, has no bytes on this rank: this rank is "
                          "outside the tensor's mesh mesh(pp=1; ranks 2,3). Read it on a rank"));
}

TEST(DenseTensor, ADeferredArrayIsMadeWhenItIsRead) {
  class Sevens : public Storage::Source {
    TensorMeta meta_ = {{2, 2}, DataType::FLOAT32};
    const TensorMeta& meta() const override { return meta_; }
    void read(const Box& box, DenseTensor* out) const override {
      std::fill_n(out->mutable_data<float>(), box.numel(), 7.0f);
    }
  };
  const DenseTensor x({{2, 2}, DataType::FLOAT32},
                      Storage::from_source(CPUPlace(), std::make_shared<const Sevens>()));
  const DenseTensor last = x.rows(1, 2);
  EXPECT_FALSE(x.initialized());
  EXPECT_THAT(last.values<float>(), ::testing::ElementsAre(7, 7));
  EXPECT_TRUE(x.initialized());
}

TEST(Box, IntersectionsMayBeEmpty) {
  const Box a = {{2, 0}, {4, 3}};
  const Box b = {{4, 1}, {4, 1}};
  EXPECT_EQ(intersect(a, b), (Box{{4, 1}, {2, 1}}));
  EXPECT_EQ(intersect(a, b).to_string(), "[4:6,1:2]");
  EXPECT_TRUE(intersect(a, Box{{6, 0}, {1, 3}}).empty());
  EXPECT_EQ(Box::whole({}).numel(), 1);
  EXPECT_TRUE((ShardBox{{4}, Box::whole({4})}).is_whole());
  EXPECT_FALSE((ShardBox{{5}, Box::whole({4})}).is_whole());
}

}  // namespace
}  // namespace phi
