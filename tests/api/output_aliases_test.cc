// Parts that share the bytes of what they were taken from have the values of copies: whoever is
// written to first, plain and distributed, where one rank's part lies in one piece and another's
// does not. All ranks are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/capture/program.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/index_select_strided.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/sgd_.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/split.h"
#include "api/generated/ops/split_with_num.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/strided_slice.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/unbind.h"
#include "api/generated/ops/unsqueeze.h"
#include "api/generated/ops/unstack.h"
#include "api/generated/ops/view_slice.h"
#include "capture/capture_support.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi {
namespace {

using distributed::PendingTensor;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::start_reshard;
using distributed::World;
using distributed::testing::on_ranks;
using phi::testing::bytes_of;

constexpr int64_t kRows = 6;
constexpr int64_t kColumns = 4096;  // of float32: parts of a row are above the limit of copies
constexpr int64_t kRowBytes = kColumns * 4;

bool is_alias(const Tensor& x) { return !array_of(x).storage()->owns_bytes(); }
int64_t held() { return memory_stats(CPUPlace()).current; }
Counters& counters() { return RankContext::current().counters(); }

// On the device, by an operator.
Tensor counting() {
  std::vector<float> values(kRows * kColumns);
  std::iota(values.begin(), values.end(), 0.0f);
  return scale(from_vector(std::move(values), {kRows, kColumns}), 1.0, 1.0);
}
Tensor copy_of(const Tensor& x) { return scale(x, 1.0); }

struct Take {
  std::string name;
  std::function<TensorList(const Tensor&)> take;
  bool is_aliased_by_plain_tensors = true;
};

const std::vector<Take>& takes() {
  static const std::vector<Take> all = {
      {"rows", [](const Tensor& x) { return TensorList{x[range(1, 3)]}; }},
      {"row", [](const Tensor& x) { return TensorList{x[-2]}; }},
      {"part of a row", [](const Tensor& x) { return TensorList{x(4, range(1024, kEnd))}; }},
      {"columns", [](const Tensor& x) { return TensorList{x(range(), range(0, 2048))}; }, false},
      {"all of it", [](const Tensor& x) { return TensorList{x()}; }},
      {"split",
       [](const Tensor& x) {
         return split(x, {2, 3, 1}, 0);
       }},
      {"split columns", [](const Tensor& x) { return split_with_num(x, 2, 1); }, false},
      {"unbind", [](const Tensor& x) { return unbind(x, 0); }},
      {"unstack", [](const Tensor& x) { return unstack(x, -2, kRows); }},
      {"index", [](const Tensor& x) { return TensorList{index_select_strided(x, -1, 0)}; }},
      {"view_slice", [](const Tensor& x) { return TensorList{view_slice(x, 2, 5)}; }},
      {"steps of one",
       [](const Tensor& x) { return TensorList{strided_slice(x, {0}, {-3}, {-1}, {1})}; }},
      {"steps of two",
       [](const Tensor& x) { return TensorList{strided_slice(x, {0}, {0}, {4}, {2})}; }, false},
  };
  return all;
}

TEST(OutputAliases, ContiguousPartsOfPlainTensorsCostNothing) {
  for (const Take& take : takes()) {
    SCOPED_TRACE(take.name);
    const Tensor x = counting();
    const int64_t before = held(), launched = counters().ops_launched;
    const TensorList parts = take.take(x);
    EXPECT_EQ(counters().ops_launched - launched, 1);
    for (const Tensor& part : parts) EXPECT_EQ(is_alias(part), take.is_aliased_by_plain_tensors);
    if (take.is_aliased_by_plain_tensors) {
      EXPECT_EQ(held(), before);
    }
  }
}

TEST(OutputAliases, WhatIsSmallOrBeginsBetweenWordsIsCopied) {
  const Tensor x = counting();
  EXPECT_FALSE(is_alias(x(0, range(0, 1024))));
  EXPECT_TRUE(is_alias(x(0, range(0, 1040))));
  EXPECT_FALSE(is_alias(x(0, range(1, kEnd))));
  EXPECT_TRUE(is_alias(x(0, range(16, kEnd))));
  // One launch makes all parts, so that they are lent together or not.
  for (const Tensor& part : split(x[0], {2048, 1, 2047}, 0)) EXPECT_FALSE(is_alias(part));
}

// What happens to a tensor and its parts.
struct Scene {
  Tensor x;
  TensorList parts;

  void act(int action) {
    if (action == 0) {
      scale_(x, 2.0);
    } else if (action == 1) {
      scale_(parts[0], 3.0);
    } else if (action == 2) {
      Tensor view = unsqueeze(parts[0], {0});
      scale_(view, 1.0, 1.0);
    } else {
      const Tensor last = parts.back();
      parts.push_back(slice(last, {0}, {0}, {(last.shape()[0] + 1) / 2}));
      scale_(parts.back(), 5.0);
    }
  }
};

void expect_same(const Scene& aliased, const Scene& copied) {
  EXPECT_EQ(bytes_of(aliased.x), bytes_of(copied.x));
  ASSERT_EQ(aliased.parts.size(), copied.parts.size());
  for (size_t i = 0; i < aliased.parts.size(); ++i) {
    EXPECT_EQ(bytes_of(aliased.parts[i]), bytes_of(copied.parts[i])) << "part " << i;
  }
}

// Each order of the actions, beside parts that are copied right away.
void expect_copies(const Take& take, const Tensor& x) {
  std::vector<int> order = {0, 1, 2, 3};
  do {
    SCOPED_TRACE(::testing::PrintToString(order));
    Scene aliased{copy_of(x), {}}, copied{copy_of(x), {}};
    aliased.parts = take.take(aliased.x);
    for (const Tensor& part : take.take(copied.x)) copied.parts.push_back(copy_of(part));
    for (const int action : order) {
      aliased.act(action);
      copied.act(action);
      expect_same(aliased, copied);
    }
    aliased.x = copied.x = copy_of(x);  // what they were taken from is gone
    expect_same(aliased, copied);
  } while (std::next_permutation(order.begin(), order.end()) && !::testing::Test::HasFailure());
}

TEST(OutputAliases, PlainPartsHaveTheValuesOfCopiesInEveryOrderOfWrites) {
  const Tensor x = counting();
  for (const Take& take : takes()) {
    SCOPED_TRACE(take.name);
    expect_copies(take, x);
  }
}

TEST(OutputAliases, DistributedPartsHaveTheValuesOfCopiesInEveryOrderOfWrites) {
  on_ranks(4, [](World& /*world*/) {
    const ProcessMesh mesh({4}, {"x"});
    const ProcessMesh square({2, 2}, {"x", "y"});
    const ProcessMesh three({3}, {"x"}, {0, 1, 3});
    const std::vector<Tensor> layouts = {shard_tensor(counting(), mesh, {Shard(0)}),
                                         shard_tensor(counting(), mesh, {Shard(1)}),
                                         shard_tensor(counting(), mesh, {Replicate()}),
                                         shard_tensor(counting(), square, {Shard(0), Shard(1)}),
                                         shard_tensor(counting(), three, {Shard(1)})};
    for (const Take& take : takes()) {
      for (const Tensor& x : layouts) {
        SCOPED_TRACE(take.name + " of " + x.to_string());
        expect_copies(take, x);
      }
    }
  });
}

// Six rows on four ranks: two, two, one and one. Half of one row lies in one piece, of two not.
TEST(OutputAliases, SomeRanksAliasAndOthersDoNot) {
  on_ranks(4, [](World& world) {
    const ProcessMesh mesh({4}, {"x"});
    Tensor x = shard_tensor(counting(), mesh, {Shard(0)});
    const Tensor left = x(range(), range(0, 2048));
    EXPECT_EQ(is_alias(left), world.rank() >= 2) << "rank " << world.rank();
    const auto before = bytes_of(left);
    scale_(x, 0.0);
    EXPECT_EQ(bytes_of(left), before);
    EXPECT_FALSE(is_alias(left));
  });
}

TEST(OutputAliases, WhatIsShownKeepsItsAddress) {
  Tensor x = counting();
  const Tensor row = x[1];
  const auto shown = row.values<float>();
  scale_(x, 0.0);
  EXPECT_EQ(shown[0], kColumns + 1);
  EXPECT_EQ(shown.data(), row.values<float>().data());
}

TEST(OutputAliases, ReadingByCopyPartsNothing) {
  const Tensor x = counting();
  const Tensor row = x[1];
  EXPECT_EQ(row.to_vector<float>()[0], kColumns + 1);
  EXPECT_EQ(sum(square(row)).shape(), Dims{});
  EXPECT_TRUE(is_alias(row));
}

TEST(OutputAliases, PartsKeepTheBytesUntilTheyAreWrittenTo) {
  const int64_t before = held();
  Tensor x = counting();
  Tensor row = x[1];
  x = Tensor();
  EXPECT_EQ(held() - before, kRows * kRowBytes);
  EXPECT_EQ(row.nbytes_here(), static_cast<size_t>(kRowBytes));
  scale_(row, 1.0);
  EXPECT_EQ(held() - before, kRowBytes);
}

// An operator that reads a part of what it writes to.
TEST(OutputAliases, AnInplaceOperatorReadsPartsAsTheyWere) {
  Tensor x = counting();
  Tensor head = x[range(0, 4)];
  add_(head, x[range(2, 6)]);  // head has its own bytes from here on
  Tensor y = counting();
  const Tensor tail = y[range(1, 6)];
  const auto expected = tail.to_vector<float>();
  y[range(0, 5)] = tail;
  EXPECT_EQ(y[range(0, 5)].to_vector<float>(), expected);
  EXPECT_EQ(tail.to_vector<float>(), expected);
  EXPECT_EQ(x.to_vector<float>(), counting().to_vector<float>());
}

TEST(OutputAliases, TheGradientOfASavedPartIsOfItsValue) {
  Tensor w = counting();
  w.set_requires_grad();
  const Tensor loss = sum(square(Tensor(w[range(1, 3)])));
  {
    const NoGrad no_grad;
    scale_(w, 0.0);  // a copy would have been saved: the backward pass does not mind
  }
  loss.backward();
  const auto grad = w.grad().to_vector<float>();
  EXPECT_EQ(grad[0], 0);
  EXPECT_EQ(grad[kColumns], 2 * (kColumns + 1));
  // A saved part that is written to itself is told of.
  Tensor v = counting();
  v.set_requires_grad();
  Tensor part = v[range(1, 3)];
  const Tensor wrong = sum(square(part));
  {
    const NoGrad no_grad;
    scale_(part, 2.0);
  }
  EXPECT_THAT([&] { wrong.backward(); }, ThrowsError(ErrorCode::kPreconditionNotMet, "written to"));
}

TEST(OutputAliases, AnOptimizersStepIsNotSeenByPartsOfItsParameters) {
  Tensor w = counting();
  const Tensor grad = counting();
  const Tensor row = w[5], step = grad[5];
  const auto row_before = row.to_vector<float>(), step_before = step.to_vector<float>();
  std::optional<Tensor> master;
  sgd_(w, from_vector({0.5f}, {1}), grad, master);
  EXPECT_EQ(row.to_vector<float>(), row_before);
  EXPECT_EQ(step.to_vector<float>(), step_before);
  EXPECT_TRUE(is_alias(step)) << "gradients are read";
  EXPECT_EQ(w.to_vector<float>()[5 * kColumns], row_before[0] / 2);
}

TEST(OutputAliases, SumsOfGradientsDoNotWriteToWhatIsAliased) {
  Tensor w = counting();
  w.set_requires_grad();
  const TensorList parts = split(w, {3, 3}, 0);
  const Tensor seed = counting();
  const TensorList seeds = split(seed, {3, 3}, 0);
  const Tensor twice = add(parts[0], parts[1]);
  twice.backward(seeds[0], /*retain_graph=*/true);
  twice.backward(seeds[1]);
  EXPECT_EQ(seed.to_vector<float>(), counting().to_vector<float>());
  EXPECT_EQ(w.grad().to_vector<float>()[0], 1.0f + 3 * kColumns + 1);
}

// A program is told of copies, and gives what the function gives; what it writes to may have been
// lent, also to what it reads.
TEST(OutputAliases, CapturedProgramsAreUnchangedAndMindWhatIsAliased) {
  const auto program_of = [](const TensorList& in) {
    Tensor x = in[0];
    const Tensor row = x[2];
    x[range(0, 4)] = in[1];
    return TensorList{row, add(row, x[2])};
  };
  const Program program = capture(program_of, {counting(), Tensor(counting()[range(1, 5)])});
  Tensor x = counting();
  const Tensor before = x[5], aliased = x[range(1, 5)];
  ASSERT_TRUE(is_alias(aliased));
  const auto aliased_before = bytes_of(aliased), before_bytes = bytes_of(before);
  const TensorList given = program.run({x, aliased});
  Tensor y = counting();
  const TensorList expected = program_of({y, copy_of(y[range(1, 5)])});
  for (size_t i = 0; i < expected.size(); ++i) EXPECT_EQ(bytes_of(given[i]), bytes_of(expected[i]));
  EXPECT_EQ(bytes_of(x), bytes_of(y));
  EXPECT_EQ(bytes_of(aliased), aliased_before);
  EXPECT_EQ(bytes_of(before), before_bytes);
}

TEST(OutputAliases, CaptureLeavesWhatIsAliasedAlone) {
  Tensor x = counting();
  const Tensor row = x[2];
  const Program program = capture(
      [&](const TensorList&) {
        scale_(x, 2.0);
        return TensorList{x};
      },
      {});
  EXPECT_TRUE(is_alias(row)) << "nothing was written";
  program.run({});
  EXPECT_FALSE(is_alias(row));
  EXPECT_EQ(row.to_vector<float>()[0], 2 * kColumns + 1);
  EXPECT_EQ(x.to_vector<float>()[2 * kColumns], 2 * (2 * kColumns + 1));
}

TEST(OutputAliases, WhatIsOnItsWayIsNotChangedByWritesToTheOwner) {
  on_ranks(2, [](World& world) {
    const ProcessMesh first({1}, {"x"}, {0}), second({1}, {"x"}, {1});
    Tensor x = shard_tensor(counting(), first, {Replicate()});
    const Tensor rows = x[range(1, 3)];
    PendingTensor pending = start_reshard(rows, second, {Replicate()});
    scale_(x, 0.0);
    const Tensor arrived = pending.wait();
    if (world.rank() == 1) {
      EXPECT_EQ(arrived.to_vector<float>()[0], kColumns + 1);
    }
  });
}

}  // namespace
}  // namespace phi
