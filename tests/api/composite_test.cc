// Gradients made of operators where several elements are the largest: they share what arrives,
// however the tensor lies, and in captured programs.
#include <gmock/gmock.h>

#include "api/capture/program.h"
#include "api/generated/ops/arange.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/max.h"
#include "api/generated/ops/maximum.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::Each;
using ::testing::ElementsAre;

Tensor leaf(const std::vector<float>& values, const Dims& shape,
            DataType dtype = DataType::FLOAT32) {
  Tensor x = cast(Tensor::from<float>(values, shape), dtype);
  x.set_requires_grad();
  return x;
}

std::vector<float> values(const Tensor& x) {
  const Tensor wide = cast(x, DataType::FLOAT32);
  const auto all = wide.values<float>();
  return {all.begin(), all.end()};
}

// What reaches x when 1, 2, .. reach max(x, axis).
std::vector<float> max_gradient(const Tensor& x, const IntArray& axis, bool keepdim = false) {
  const Tensor out = max(x, axis, keepdim);
  const Tensor counted = reshape(arange(1, out.numel() + 1, 1, x.dtype()), out.shape());
  return values(grad({out}, {x}, {counted})[0]);
}

TEST(MaxGrad, ElementsThatTieShareIt) {
  const Tensor x = leaf({5, 5, 1, 2, 7, 7, 7, 7, 0, -1, -1, -1}, {3, 4});
  EXPECT_THAT(max_gradient(x, {1}), ElementsAre(0.5, 0.5, 0, 0, 0.5, 0.5, 0.5, 0.5, 3, 0, 0, 0));
  EXPECT_THAT(max_gradient(x, {}, true),
              ElementsAre(0, 0, 0, 0, 0.25, 0.25, 0.25, 0.25, 0, 0, 0, 0));
  EXPECT_THAT(max_gradient(leaf({2, 1, 2, 2}, {2, 2}), {0}), ElementsAre(0.5, 0, 0.5, 2));
  EXPECT_THAT(max_gradient(leaf({3}, {}), {}), ElementsAre(1));
  const Tensor infinite = leaf({INFINITY, 1, INFINITY}, {3});
  EXPECT_THAT(max_gradient(infinite, {}), ElementsAre(0.5, 0, 0.5));
  EXPECT_THAT(max_gradient(leaf({NAN, 1, 2}, {3}), {}), Each(0));
}

// More ties than 16-bit floats can count, or hold.
TEST(MaxGrad, AnyNumberOfElementsMayTie) {
  for (const DataType dtype : {DataType::BFLOAT16, DataType::FLOAT16}) {
    const Tensor x = leaf(std::vector<float>(3000, 1.0f), {3000}, dtype);
    const Tensor g = grad({max(x)}, {x}, {full({}, 3000.0, dtype)})[0];
    EXPECT_EQ(g.dtype(), dtype);
    EXPECT_THAT(values(g), Each(1.0f)) << name_of(dtype);
    const Tensor many = leaf(std::vector<float>(1 << 17, 1.0f), {1 << 17}, dtype);
    EXPECT_THAT(values(grad({max(many)}, {many}, {full({}, 32768.0, dtype)})[0]), Each(0.25f));
  }
}

// Ranks count the ties of all: 3 of 5 along a tensor dim of which the ranks have 2, 2 and 1.
TEST(MaxGrad, TiesOnOtherRanksCount) {
  distributed::run_ranks(4, [](distributed::World&) {
    const ProcessMesh mesh({3}, {"x"}, {0, 1, 3});
    for (const IntArray& axis : {IntArray{0}, IntArray{}}) {
      const Tensor whole = leaf({6, 6, 1, 0, 6}, {5});
      const Tensor x = shard_tensor(whole, mesh, {Shard(0)});
      const Tensor top = max(x, axis);
      const Tensor g = grad({top}, {whole}, {full({}, 3.0)})[0];
      EXPECT_THAT(values(g), ElementsAre(1, 1, 0, 0, 1));
    }
  });
}

TEST(MaxGrad, CapturedProgramsShareItToo) {
  const auto step = [](const std::vector<Tensor>& in) {
    Tensor x = in[0];
    x.set_requires_grad();
    return grad({sum(multiply(max(x, {1}), in[1]))}, {x});
  };
  const Tensor x = Tensor::from<float>({4, 4, 4, 1, 2, 2}, {2, 3});
  const Tensor weights = Tensor::from<float>({3, 8}, {2});
  const Program program = capture(step, {x, weights});
  EXPECT_THAT(values(program.run({x, weights})[0]), ElementsAre(1, 1, 1, 0, 4, 4));
}

TEST(MaximumGrad, EqualNumbersHaveHalfEach) {
  const Tensor x = leaf({1, 2, 3, 0, NAN}, {5}), y = leaf({2, 2, 2, -0.0f, 1}, {5});
  const auto grads = grad({maximum(x, y)}, {x, y}, {full({5}, 4.0)});
  EXPECT_THAT(values(grads[0]), ElementsAre(0, 2, 4, 2, 2));
  EXPECT_THAT(values(grads[1]), ElementsAre(4, 2, 0, 2, 2));
  const Tensor row = leaf({2, 3}, {2}), column = leaf({2, 3}, {2, 1});
  const auto broadcast = grad({maximum(row, column)}, {row, column}, {full({2, 2}, 2.0)});
  EXPECT_THAT(values(broadcast[0]), ElementsAre(1, 3));
  EXPECT_THAT(values(broadcast[1]), ElementsAre(1, 3));
}

TEST(MaximumGrad, WhatDoesNotArriveIsNoNan) {
  const Tensor x = leaf({1, 5}, {2}), y = leaf({3, 4}, {2});
  const auto grads = grad({maximum(x, y)}, {x, y}, {full({2}, INFINITY)});
  EXPECT_THAT(values(grads[0]), ElementsAre(0, INFINITY));
  EXPECT_THAT(values(grads[1]), ElementsAre(INFINITY, 0));
}

TEST(MaxOfNothing, IsRefusedOnEveryRank) {
  distributed::run_ranks(3, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"x"}, {0, 2});
    const auto words = "[max] x f32[0,3] has no elements over axis [0]";
    const Tensor plain = full({0, 3}, 1.0f);
    EXPECT_THAT([&] { max(plain, {0}); }, ThrowsError(ErrorCode::kInvalidArgument, words));
    for (const Placement& placement : {Replicate(), Shard(0), Shard(1)}) {
      const Tensor x = shard_tensor(plain, mesh, {placement});
      EXPECT_THAT([&] { max(x, {0}); }, ThrowsError(ErrorCode::kInvalidArgument, words));
      EXPECT_EQ(max(x, {1}).shape(), Dims{0});
    }
  });
}

}  // namespace
}  // namespace phi
