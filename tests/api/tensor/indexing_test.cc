// Parts of tensors: read and assigned, plain and distributed, with gradients; indices outside.
#include "api/tensor/indexing.h"

#include <gmock/gmock.h>

#include <numeric>

#include "api/generated/ops/cast.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/where.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "tests/api/tensor/finite_differences.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rank_launcher.h"

namespace phi {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::unshard_dtensor;
using distributed::World;
using distributed::testing::on_ranks;
using ::testing::ElementsAre;

Tensor counting(const Dims& shape) {
  std::vector<float> values(static_cast<size_t>(shape.numel()));
  std::iota(values.begin(), values.end(), 0.0f);
  return from_vector(values, shape);
}
std::vector<float> floats(const Tensor& x) { return x.to_vector<float>(); }

TEST(Indexing, NumbersTakeATensorDimAway) {
  const Tensor x = counting({2, 3});
  const Tensor row = x[1];
  EXPECT_EQ(row.shape(), Dims{3});
  EXPECT_THAT(floats(row), ElementsAre(3, 4, 5));
  EXPECT_THAT(floats(x[-2]), ElementsAre(0, 1, 2));
  EXPECT_EQ(x(1, -1).item(), 5);
  EXPECT_EQ(x[1][0].item(), 3);
  EXPECT_EQ(x(1, 2).shape(), Dims{});
}

TEST(Indexing, RangesKeepIt) {
  const Tensor x = counting({4, 3});
  EXPECT_THAT(floats(x[range(1, 3)]), ElementsAre(3, 4, 5, 6, 7, 8));
  EXPECT_THAT(floats(x(range(-2, kEnd), 0)), ElementsAre(6, 9));
  EXPECT_THAT(floats(x(range(), range(0, -1))), ElementsAre(0, 1, 3, 4, 6, 7, 9, 10));
  EXPECT_EQ(x[range(2, 2)].shape(), (Dims{0, 3}));
  EXPECT_EQ(x(range(1, 4), range(0, 1)).shape(), (Dims{3, 1}));
  EXPECT_THAT(floats(x()), floats(x));
}

TEST(Indexing, PartsOfPartsArePartsOfTheWhole) {
  const Tensor x = counting({4, 3, 2});
  EXPECT_THAT(floats(x[range(1, 3)](range(), 2)[1]), ElementsAre(16, 17));
  EXPECT_EQ(x(range(), 1)(3)[-1].item(), 21);
  x[range(1, 3)](1, 2)[0] = 100;
  EXPECT_EQ(x(2, 2, 0).item(), 100);
}

TEST(Indexing, APartIsACopyThatIsTakenWhenItIsAsked) {
  const Tensor x = counting({3});
  const TensorPart part = x[0];
  const Tensor before = part;
  x[0] = 7;
  EXPECT_EQ(before.item(), 0);
  EXPECT_EQ(part.item(), 7);
}

TEST(Indexing, WorksWithOperators) {
  const Tensor x = counting({2, 2});
  EXPECT_THAT(floats(x[0] + x[1]), ElementsAre(2, 4));
  EXPECT_THAT(floats(2 * x[1]), ElementsAre(4, 6));
  EXPECT_THAT((x[1] > 2).to_vector<bool>(), ElementsAre(false, true));
  x[0] += 10;
  x[1] *= x[0];
  EXPECT_THAT(floats(x), ElementsAre(10, 11, 20, 33));
  x(range(), 0) -= 10;
  x[1] /= 11;
  EXPECT_THAT(floats(x), ElementsAre(0, 11, 10.0f / 11, 3));
  EXPECT_EQ(x[1].to(DataType::INT64).to_vector<int64_t>()[1], 3);
}

TEST(Indexing, AssigningWritesForEveryHandle) {
  Tensor x = counting({3, 2});
  const Tensor other = x;
  x[1] = from_vector({8.0f, 9.0f}, {2});
  EXPECT_THAT(floats(other), ElementsAre(0, 1, 8, 9, 4, 5));
  x(range(0, 2), -1) = full({1}, -1.0f);  // broadcast
  EXPECT_THAT(floats(other), ElementsAre(0, -1, 8, -1, 4, 5));
  x[0] = x[2];
  EXPECT_THAT(floats(other), ElementsAre(4, 5, 8, -1, 4, 5));
  x[range(0, 0)] = 3;
  x() = 0.5;
  EXPECT_THAT(floats(other), ::testing::Each(0.5));
}

template <typename T>
void expect_assignable(T one) {
  const Tensor x = from_vector<T>({T(0), T(0), T(0)}, {3});
  x[1] = 1;
  EXPECT_TRUE(x.to_vector<T>()[0] == T(0) && x.to_vector<T>()[1] == one);
}

TEST(Indexing, OfEveryDtype) {
  expect_assignable<bool>(true);
  expect_assignable<uint8_t>(1);
  expect_assignable<int32_t>(1);
  expect_assignable<int64_t>(1);
  expect_assignable<float16>(float16(1.0f));
  expect_assignable<bfloat16>(bfloat16(1.0f));
  expect_assignable<float>(1);
  expect_assignable<double>(1);
}

TEST(Indexing, WhatIsOutsideIsNamed) {
  const Tensor x = counting({4, 3});
  const auto out_of_range = [](const std::string& text) {
    return ThrowsError(ErrorCode::kOutOfRange, text);
  };
  EXPECT_THAT([&] { (void)x[4]; },
              out_of_range("4 of tensor dim 0 of f32[4,3]: its extent is 4; use -4 to 3."));
  EXPECT_THAT([&] { (void)x(0, -4); }, out_of_range("-4 of tensor dim 1 of f32[4,3]"));
  EXPECT_THAT([&] { (void)x[range(0, 5)]; }, out_of_range("range 0:5 of tensor dim 0"));
  EXPECT_THAT([&] { (void)x[range(3, 1)]; }, out_of_range("range 3:1 of tensor dim 0"));
  EXPECT_THAT([&] { (void)x[range(5, kEnd)]; }, out_of_range("range 5: of tensor dim 0"));
  EXPECT_THAT([&] { (void)x[1][3]; }, out_of_range("3 of tensor dim 0 of part [1,:] of f32[4,3]"));
  EXPECT_THAT([&] { (void)x(0, 0, 0); },
              ThrowsError(ErrorCode::kInvalidArgument, "3 indices for f32[4,3], which has 2"));
  EXPECT_THAT([&] { (void)full({}, 1.0f)[0]; },
              ThrowsError(ErrorCode::kInvalidArgument, "1 indices for f32[]"));
}

TEST(Indexing, ValuesThatDoNotFitNameBoth) {
  const Tensor x = counting({4, 3});
  EXPECT_THAT(
      [&] { x[0] = full({4}, 1.0f); },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "f32[4] cannot be assigned to part [0,:] of f32[4,3], whose shape is [3]"));
  EXPECT_THAT(
      [&] {
        x[0] = full({2, 3}, 1.0f);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "[2,3]"));
  EXPECT_THAT([&] { x[0] = full({3}, 1, DataType::INT64); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "i64[3] cannot be assigned to part [0,:] of f32[4,3]: their dtypes"));
  EXPECT_THAT([&] { cast(x, DataType::INT64)[0] = 0.5; },
              ThrowsError(ErrorCode::kInvalidArgument, "0.500000 cannot be assigned to i64[4,3]"));
  Tensor leaf = counting({2});
  leaf.set_requires_grad();
  EXPECT_THAT([&] { leaf[0] = 1; },
              ThrowsError(ErrorCode::kPreconditionNotMet, "is a leaf that requires a gradient"));
  {
    const NoGrad no_grad;
    leaf[0] = 5;
  }
  EXPECT_EQ(leaf[0].item(), 5);
  const Tensor dist = shard_tensor(x, ProcessMesh({1}, {"x"}), {Shard(0)});
  EXPECT_THAT([&] { x[0] = dist[0]; },
              ThrowsError(ErrorCode::kInvalidArgument, "which is plain; use distributed::unshard"));
}

// Reads and writes of x and y = what was assigned, both with gradients.
Tensor program(const Tensor& x) {
  Tensor copy = x * 1.0;
  copy(range(1, 3), 0) = square(x(range(0, 2), -1));
  copy[0] = 2.0 * x[3];
  copy(3, 1) = 1.5;
  return sum(square(copy) * copy);
}
const std::vector<double> kValues = {0.5, -1, 2, 0.25, 0.75, -0.5, 1.25, 0.1};

TEST(Indexing, GradientsAreFiniteDifferences) {
  testing::expect_finite_differences(program, kValues, {4, 2});
}

TEST(Indexing, DistributedGradientsAreFiniteDifferences) {
  for (const int64_t ranks : {2, 4}) {
    on_ranks(ranks, [&](World&) {
      const ProcessMesh mesh({ranks}, {"x"});
      for (const Placement& placement : {Replicate(), Shard(0), Shard(1)}) {
        testing::expect_finite_differences(
            [&](const Tensor& x) { return program(shard_tensor(x, mesh, {placement})); }, kValues,
            {4, 2});
      }
    });
  }
}

// Part of the mesh, uneven; each part read and assigned, of plain and distributed values.
TEST(Indexing, DistributedPartsAreThoseOfTheWhole) {
  on_ranks(4, [](World&) {
    const ProcessMesh mesh({3}, {"x"}, {0, 1, 3});
    for (const Placement& placement : {Replicate(), Shard(0), Shard(1)}) {
      for (const auto& index :
           {range(2, 3), range(1, 5), range(), TensorIndex(4), range(6, kEnd)}) {
        const Tensor plain = counting({7, 3});
        const Tensor x = shard_tensor(plain + 0, mesh, {placement});
        EXPECT_EQ(floats(unshard_dtensor(x[index])), floats(plain[index]));
        EXPECT_EQ(floats(unshard_dtensor(x(index, range(1, 3)))),
                  floats(plain(index, range(1, 3))));
        const Tensor row = from_vector({-1.0f, -2.0f, -3.0f}, {3});
        x[index] = row;
        plain[index] = row;
        x(index, 1) = 50;
        plain(index, 1) = 50;
        x[-1] = x[0];
        plain[-1] = plain[0];
        EXPECT_EQ(floats(unshard_dtensor(x)), floats(plain)) << placement.to_string();
        EXPECT_EQ(x.placements()[0], placement);
      }
    }
  });
}

TEST(Indexing, CapturedProgramsReadAndAssignToo) {
  on_ranks(2, [](World&) {
    const ProcessMesh mesh({2}, {"x"});
    const auto f = [](const TensorList& in) {
      Tensor copy = in[0] * 2 - 1;
      copy(range(1, 4), 0) = in[0](range(0, 3), -1);
      copy[4] += 1;
      return TensorList{where(copy > 0.5, copy, -copy)};
    };
    const Tensor x = shard_tensor(counting({5, 2}) / 3, mesh, {Shard(0)});
    const Program program = capture(f, {x});
    for (const double more : {0.0, 0.25}) {
      EXPECT_EQ(floats(unshard_dtensor(program.run({x + more})[0])),
                floats(unshard_dtensor(f({x + more})[0])));
    }
  });
}

// An assignment of a number to rows of a sharded tensor sends nothing.
TEST(Indexing, AssigningLeavesATensorWhereItLies) {
  on_ranks(2, [](World& world) {
    const Tensor x = shard_tensor(full({8, 4}, 1.0f), ProcessMesh({2}, {"x"}), {Shard(0)});
    const int64_t sent = world.rank_context().counters().bytes_sent;
    x[5] = 3;
    x(range(2, 6), 1) = 4;
    EXPECT_EQ(world.rank_context().counters().bytes_sent, sent);
    EXPECT_EQ(x.local().values<float>()[4 * 1], world.rank() == 0 ? 1 : 3);
  });
}

}  // namespace
}  // namespace phi
