// What is dropped follows the model's seed, the dropout's number and the pass alone.
#include "api/nn/layers/dropout.h"

#include <gtest/gtest.h>

#include "api/generated/ops/dropout.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/ones.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi::nn {
namespace {

class Two final : public Module {
 public:
  Two() : first(*this, "first", 0.5), second(*this, "second", 0.5) {}
  Dropout first, second;
};

Tensor ones() { return full({64, 8}, 1.0); }

std::vector<float> dropped(const Dropout& dropout, uint64_t number = 0) {
  const ForwardContextScope pass(dropout, {.number = number});
  return dropout(ones()).to_vector<float>();
}

TEST(Dropout, DiffersByModelPassAndPlaceAndByNothingElse) {
  Two model;
  const auto before = dropped(model.first, 5);
  EXPECT_EQ(dropped(model.first, 5), before);
  EXPECT_EQ(dropped(Two().first, 5), before);
  EXPECT_NE(dropped(model.first, 6), before);
  EXPECT_NE(dropped(model.second, 5), before);
  model.initialise(2);
  EXPECT_NE(dropped(model.first, 5), before);
}

TEST(Dropout, KeepsTheMean) {
  const Two model;
  double sum = 0;
  for (uint64_t pass = 0; pass < 50; ++pass) {
    for (float v : dropped(model.first, pass)) {
      EXPECT_TRUE(v == 0.0f || v == 2.0f);
      sum += v;
    }
  }
  EXPECT_NEAR(sum / (50 * 512), 1.0, 5.0 / std::sqrt(50.0 * 512));
}

TEST(Dropout, DropsNothingOutOfTraining) {
  Two model;
  EXPECT_TRUE(model.drops_now());
  model.set_training(false);
  EXPECT_FALSE(model.drops_now());
  EXPECT_EQ(dropped(model.first), std::vector<float>(512, 1.0f));
}

TEST(Dropout, IsTheSameOnAMesh) {
  const auto expected = dropped(Two().first, 3);
  distributed::run_ranks(2, [&](distributed::World&) {
    const Two model;
    const ForwardContextScope pass(model, {.number = 3});
    const distributed::ProcessMesh mesh({2}, {"dp"});
    const Tensor x = distributed::shard_tensor(ones(), mesh, {distributed::Shard(0)});
    EXPECT_EQ(distributed::gathered_everywhere(model.first(x)).to_vector<float>(), expected);
  });
}

std::vector<float> one_more(const Dropout& dropout) { return dropout(ones()).to_vector<float>(); }

TEST(Dropout, DrawsANewMaskInEachCallOutsideOfPasses) {
  const Two model;
  seed(7);
  const auto first = one_more(model.first), second = one_more(model.first);
  const auto other = one_more(model.second);
  EXPECT_NE(first, second);
  EXPECT_NE(second, other);
  seed(7);
  EXPECT_EQ(one_more(model.first), first);
  EXPECT_EQ(one_more(model.first), second);
}

TEST(Dropout, CalledTwiceInOnePassDrawsTwoMasks) {
  const Two model;
  const auto twice = [&] {
    const ForwardContextScope pass(model, {.number = 5});
    const auto first = one_more(model.first);
    return std::pair(first, one_more(model.first));
  };
  const auto [first, second] = twice();
  EXPECT_NE(first, second);
  EXPECT_EQ(first, dropped(model.first, 5));
  gaussian({3});  // draws outside of passes do not change those within
  EXPECT_EQ(twice(), std::pair(first, second));
}

TEST(Dropout, IsRecomputedWithTheMaskOfItsCall) {
  const Two model;
  const auto mask_and_gradient = [&] {
    Tensor x = ones();
    x.set_requires_grad();
    Tensor y;
    {
      const ForwardContextScope pass(model, {.number = 5});
      one_more(model.first);
      y = recompute([&](const TensorList& in) { return model.second(model.first(in[0])); }, {x});
      one_more(model.first);
    }
    sum(y).backward();
    return std::pair(y.to_vector<float>(), x.grad().to_vector<float>());
  };
  const auto [mask, gradient] = mask_and_gradient();
  EXPECT_EQ(mask, gradient);
}

TEST(Dropout, AProgramDrawsAnewAndKnowsNoMicroBatches) {
  const Two model;
  const Program program =
      capture([&](const TensorList& in) { return TensorList{model.first(in[0])}; }, {ones()});
  const auto run = [&] { return program.run({ones()}).at(0).to_vector<float>(); };
  seed(7);
  const auto first = one_more(model.first), second = one_more(model.first);
  seed(7);
  EXPECT_EQ(run(), first);
  EXPECT_EQ(run(), second);
  const ForwardContextScope pass(model, {.number = 5});
  EXPECT_THAT(run, ThrowsError(ErrorCode::kUnimplemented, "runs within a micro-batch"));
}

TEST(Dropout, OfAllIsAnError) {
  Two model;
  EXPECT_THAT([&] { Dropout(model, "third", 1.0); },
              ThrowsError(ErrorCode::kInvalidArgument, "dropout of 1; it must be 0 or more"));
}

}  // namespace
}  // namespace phi::nn
