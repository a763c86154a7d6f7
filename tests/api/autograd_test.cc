// What users do with gradients: accumulation, hooks, no_grad, retain_graph, grad(), recompute,
// inplace writes, and the errors.
#include "api/autograd/autograd.h"

#include <gmock/gmock.h>

#include "api/generated/ops/abs.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/complex.h"
#include "api/generated/ops/conj.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/dropout.h"
#include "api/generated/ops/exp.h"
#include "api/generated/ops/flatten.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/real.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/scaled_sgd_.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/squeeze.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/tanh.h"
#include "api/generated/ops/unsqueeze.h"
#include "api/generated/ops/view_shape.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::ElementsAre;

Tensor leaf(std::vector<float> values) {
  const auto n = static_cast<int64_t>(values.size());
  Tensor x = Tensor::from<float>(values, {n});
  x.set_requires_grad();
  return x;
}
std::vector<float> values(const Tensor& x) {
  const auto all = x.values<float>();
  return {all.begin(), all.end()};
}

TEST(Autograd, ComputesTheGradientOfAProgram) {
  const Tensor x = leaf({1, 2, 3});
  const Tensor y = leaf({4, 5, 6});
  sum(add(multiply(x, y), square(x))).backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(6, 9, 12));
  EXPECT_THAT(values(y.grad()), ElementsAre(1, 2, 3));
}

TEST(Autograd, PassesAccumulateUntilCleared) {
  Tensor x = leaf({1, 2});
  sum(square(x)).backward();
  sum(square(x)).backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(4, 8));
  x.clear_grad();
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, AGradientHandedOutIsNotChangedByTheNextPass) {
  const Tensor x = leaf({1, 2});
  sum(square(x)).backward();
  const Tensor first = x.grad();
  sum(square(x)).backward();
  EXPECT_THAT(values(first), ElementsAre(2, 4));
}

TEST(Autograd, OneTensorOnTwoPathsOfTheSameGradient) {
  // add's gradient is one tensor for both inputs: summing must not write into it twice.
  const Tensor x = leaf({1, 2});
  const Tensor y = scale(x, 3.0);
  sum(add(add(y, y), y)).backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(9, 9));
}

TEST(Autograd, NothingIsRecordedUnderNoGrad) {
  const Tensor x = leaf({1, 2});
  const NoGrad no_grad;
  EXPECT_FALSE(square(x).requires_grad());
}

TEST(Autograd, DetachCutsTheHistory) {
  const Tensor x = leaf({1, 2});
  const Tensor y = square(x);
  EXPECT_FALSE(y.detach().requires_grad());
  sum(multiply(y.detach(), x)).backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(1, 4));
}

TEST(Autograd, AGraphRunsTwiceOnlyIfRetained) {
  const Tensor x = leaf({1, 2});
  const Tensor y = sum(square(x));
  y.backward({}, /*retain_graph=*/true);
  y.backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(4, 8));
  EXPECT_THAT([&] { y.backward(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "retain_graph=true"));
}

TEST(Autograd, GradGivesWhatIsAskedForAndLeavesKeepNothing) {
  const Tensor x = leaf({1, 2});
  const Tensor y = square(x);
  const auto grads = grad({sum(multiply(y, y))}, {y, x});
  EXPECT_THAT(values(grads[0]), ElementsAre(2, 8));
  EXPECT_THAT(values(grads[1]), ElementsAre(4, 32));
  EXPECT_FALSE(x.grad().defined());
}

TEST(Autograd, GradOfAnInputThatDoesNotLeadThereIsUndefined) {
  const Tensor x = leaf({1}), other = leaf({1});
  EXPECT_FALSE(grad({square(x)}, {other})[0].defined());
}

TEST(Autograd, HooksOfLeavesAndOfOthers) {
  const Tensor x = leaf({1, 2});
  const Tensor y = square(x);
  std::vector<float> seen;
  y.register_hook([&](const Tensor& g) {
    seen = values(g);
    return scale(g, 10.0);
  });
  x.register_hook([](const Tensor& g) { return scale(g, -1.0); });
  sum(y).backward();
  EXPECT_THAT(seen, ElementsAre(1, 1));
  EXPECT_THAT(values(x.grad()), ElementsAre(-20, -40));
}

// A hook's gradient is checked as one that is given to backward() is: kernels trust its shape.
TEST(Autograd, AHookMustReturnAGradientOfTheSameShapeAndDtype) {
  const Tensor x = full({3, 4}, 1.0).set_requires_grad();
  const auto pass = [&](const Tensor& returned, bool at_leaf) {
    const Tensor y = square(x);
    const Tensor leaf = full({3, 4}, 1.0).set_requires_grad();
    (at_leaf ? leaf : y).register_hook([returned](const Tensor&) { return returned; });
    sum(multiply(y, leaf)).backward();
  };
  for (const bool at_leaf : {false, true}) {
    EXPECT_THAT([&] { pass(full({2}, 1.0), at_leaf); },
                ThrowsError(ErrorCode::kInvalidArgument,
                            "a hook on the gradient f32[3,4] returned f32[2]"));
    EXPECT_THAT(
        [&] {
          pass(full({3, 4}, 1.0, DataType::FLOAT64), at_leaf);
        },
        ThrowsError(ErrorCode::kInvalidArgument, "shape and dtype must match"));
    EXPECT_THAT([&] { pass(Tensor(), at_leaf); },
                ThrowsError(ErrorCode::kInvalidArgument, "returned an undefined tensor"));
  }
}

TEST(Autograd, OutputsWithoutGradientEndTheProgram) {
  const Tensor x = leaf({1, 2, 3, 4});
  const Tensor logits = reshape(x, {2, 2});
  const Tensor labels = Tensor::from<int64_t>(std::vector<int64_t>{0, 1}, {2, 1});
  const auto [softmax, loss] = cross_entropy_with_softmax(logits, labels);
  EXPECT_TRUE(loss.requires_grad());
  EXPECT_FALSE(softmax.requires_grad());
}

// Reading a partial gradient sums it over the ranks. Sums of two leaves look alike.
TEST(Autograd, RanksThatReadGradientsInDifferentOrdersAreTold) {
  const auto read = [](bool in_one_order) {
    distributed::run_ranks(2, [&](distributed::World& world) {
      const ProcessMesh mesh({2}, {"dp"}, {0, 1});
      const Tensor x = shard_tensor(full({4, 2}, 1.0), mesh, {Shard(0)});
      const Tensor v = shard_tensor(full({2, 2}, 2.0), mesh, {Replicate()}).set_requires_grad();
      const Tensor w = shard_tensor(full({2, 2}, 3.0), mesh, {Replicate()}).set_requires_grad();
      sum(matmul(matmul(x, v), w)).backward();
      const bool v_first = in_one_order || world.rank() == 0;
      (v_first ? v : w).grad();
      (v_first ? w : v).grad();
    });
  };
  read(true);
  EXPECT_THAT([&] { read(false); },
              ThrowsError(ErrorCode::kInvalidArgument, "calls do not match (gradient of leaf"));
}

// ---- inplace ----

TEST(AutogradInplace, IsRecordedOnTensorsThatOperationsMade) {
  const Tensor x = leaf({1, -2});
  Tensor y = scale(x, 3.0);
  relu_(y);
  sum(y).backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(3, 0));
}

TEST(AutogradInplace, AViewRemembersTheShapeThatItHad) {
  const Tensor x = leaf({1, 2, 3, 4});
  Tensor y = scale(x, 2.0);
  reshape_(y, {2, 2});
  sum(square(y)).backward();
  EXPECT_EQ(x.grad().shape(), x.shape());
  EXPECT_THAT(values(x.grad()), ElementsAre(8, 16, 24, 32));
}

TEST(AutogradInplace, RefusesALeaf) {
  Tensor x = leaf({1, 2});
  EXPECT_THAT([&] { relu_(x); }, ThrowsError(ErrorCode::kPreconditionNotMet, "is a leaf"));
  const NoGrad no_grad;
  relu_(x);
}

TEST(AutogradInplace, RefusesToOverwriteWhatItsGradientNeeds) {
  const Tensor x = leaf({1, 2});
  Tensor y = scale(x, 2.0);
  EXPECT_THAT([&] { square_(y); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "which would be overwritten"));
}

TEST(AutogradInplace, ASavedValueThatWasOverwrittenIsAnError) {
  const Tensor x = leaf({1, 2});
  Tensor y = scale(x, 2.0);
  const Tensor z = square(y);
  scale_(y, 3.0);
  EXPECT_THAT([&] { sum(z).backward(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "an inplace operation has written"));
}

using View = Tensor (*)(const Tensor&);
const std::pair<const char*, View> kViews[] = {
    {"reshape",
     [](const Tensor& x) {
       return reshape(x, {2, 1});
     }},
    {"flatten", [](const Tensor& x) { return flatten(x, 0, 0); }},
    {"squeeze", [](const Tensor& x) { return squeeze(x, {}); }},
    {"unsqueeze", [](const Tensor& x) { return unsqueeze(x, {0}); }},
    {"view_shape",
     [](const Tensor& x) {
       return view_shape(x, {2, 1});
     }},
};

// A view shares bytes and has a history of its own, which a write through another tensor makes
// wrong.
TEST(AutogradInplace, AWriteThroughAViewOutdatesTheHistoryOfWhatItIsAViewOf) {
  for (const auto& [name, view] : kViews) {
    SCOPED_TRACE(name);
    const Tensor x = leaf({1, 2});
    const Tensor b = scale(x, 2.0);
    Tensor v = view(b);
    scale_(v, 5.0);
    EXPECT_THAT([&] { sum(b); }, ThrowsError(ErrorCode::kPreconditionNotMet,
                                             "f32[2] shares its bytes with a tensor"));
    EXPECT_THAT(
        [&] { b.backward(full({2}, 1.0)); },
        ThrowsError(ErrorCode::kPreconditionNotMet, "clone() one of the two before the write"));
    sum(v).backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(10, 10));
  }
}

TEST(AutogradInplace, AWriteOutdatesTheHistoryOfViews) {
  for (const auto& [name, view] : kViews) {
    SCOPED_TRACE(name);
    const Tensor x = leaf({1, 2});
    Tensor b = scale(x, 2.0);
    Tensor v = view(b);
    scale_(b, 5.0);
    EXPECT_THAT([&] { sum(v); }, ThrowsError(ErrorCode::kPreconditionNotMet, "shares its bytes"));
    EXPECT_THAT([&] { scale_(v, 2.0); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "shares its bytes"));
    sum(b).backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(10, 10));
  }
}

// A change of shape in place writes nothing; what is not tracked has no history to mend.
TEST(AutogradInplace, OtherHandlesMayFollowWhatIsNoTrackedWrite) {
  const Tensor x = leaf({1, 2});
  Tensor b = scale(x, 2.0);
  const Tensor v = reshape(b, {2, 1});
  reshape_(b, {1, 2});
  {
    const NoGrad no_grad;
    scale_(b, 5.0);
  }
  sum(v).backward();
  EXPECT_THAT(values(x.grad()), ElementsAre(2, 2));
}

// Ranks outside the mesh have no bytes to share, and must refuse as the others do.
TEST(AutogradInplace, AnOutdatedHistoryIsRefusedOnEveryRank) {
  distributed::run_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({1}, {"x"}, {0});
    for (const auto& [name, view] : kViews) {
      SCOPED_TRACE(name);
      const Tensor x = shard_tensor(leaf({1, 2}).detach(), mesh, {Replicate()}).set_requires_grad();
      Tensor b = scale(x, 2.0);
      Tensor v = view(b);
      scale_(v, 5.0);
      EXPECT_THAT([&] { sum(b); }, ThrowsError(ErrorCode::kPreconditionNotMet, "shares its bytes"));
      sum(v).backward();
    }
  });
}

TEST(AutogradInplace, AnOperatorWithoutGradientDoesNotWriteToARecordedTensor) {
  Tensor x = leaf({1, 2});
  std::optional<Tensor> master;
  const Tensor step = full({2}, 1.0f);
  EXPECT_THAT([&] { scaled_sgd_(x, step, master, full({}, 0.5f)); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "call it under NoGrad"));
  const NoGrad no_grad;
  scaled_sgd_(x, step, master, full({}, 0.5f));
  EXPECT_THAT(values(x), ElementsAre(0.5f, 1.5f));
}

// |exp(x + i x)|^2 = exp(2 x): complex numbers on the way do not end the program.
TEST(Autograd, LeadsThroughComplexNumbers) {
  const Tensor x = leaf({0.5f, -1.0f});
  const Tensor z = exp(complex(x, x));
  EXPECT_TRUE(z.requires_grad());
  sum(real(multiply(z, conj(z)))).backward();
  EXPECT_NEAR(x.grad().values<float>()[0], 2 * std::exp(1.0f), 1e-5f);
  EXPECT_NEAR(x.grad().values<float>()[1], 2 * std::exp(-2.0f), 1e-6f);
}

TEST(Autograd, AComplexLeafHasTheGradientsOfItsParts) {
  Tensor z = complex(full({1}, 3.0f), full({1}, 4.0f));
  z.set_requires_grad();
  sum(abs(z)).backward();
  EXPECT_EQ(z.grad().values<complex64>()[0], complex64(0.6f, 0.8f));
}

// ---- errors ----

TEST(AutogradErrors, NameWhatIsMissing) {
  const Tensor plain = full({2}, 1.0f);
  EXPECT_THAT([&] { sum(plain).backward(); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "set_requires_grad()"));
  const Tensor x = leaf({1, 2});
  EXPECT_THAT([&] { square(x).backward(); },
              ThrowsError(ErrorCode::kInvalidArgument, "has 2 elements"));
  EXPECT_THAT([&] { square(x).backward(full({3}, 1.0f)); },
              ThrowsError(ErrorCode::kInvalidArgument, "shape and dtype must match"));
  EXPECT_THAT(
      [&] {
        grad({sum(square(x))}, {x}, {full({}, 1.0f), full({}, 1.0f)});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "1 outputs and 2 gradients for them"));
  EXPECT_THAT([&] { sum(complex(x, x)).backward(); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "is complex: pass the gradient that backward starts from"));
  Tensor ids = full({2}, 1, DataType::INT64);
  EXPECT_THAT([&] { ids.set_requires_grad(); },
              ThrowsError(ErrorCode::kInvalidArgument, "it is neither floating nor complex"));
  Tensor y = square(x);
  EXPECT_THAT([&] { y.set_requires_grad(false); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "call detach() on it"));
}

// ---- recompute ----

TEST(Recompute, GivesTheSameGradients) {
  const Tensor x = leaf({0.5f, -1, 2});
  const Tensor w = leaf({2, 3, 4});
  const auto f = [&](const std::vector<Tensor>& in) { return tanh(multiply(square(in[0]), w)); };
  sum(f({x})).backward();
  const auto dx = values(x.grad()), dw = values(w.grad());
  Tensor x2 = leaf({0.5f, -1, 2});
  Tensor w_again = w;
  w_again.clear_grad();
  sum(recompute(f, {x2})).backward();
  EXPECT_EQ(values(x2.grad()), dx);
  EXPECT_EQ(values(w.grad()), dw);
}

TEST(Recompute, ComputesNoGradientThatNobodyWants) {
  const Tensor w = leaf({2, 3, 4});
  const Tensor x = full({3}, 0.5f);
  const auto f = [](const std::vector<Tensor>& in) { return multiply(square(in[0]), in[1]); };
  const auto launches_of_backward = [&](Tensor y) {
    const int64_t before = RankContext::current().counters().ops_launched;
    y.backward(full({3}, 1.0f));
    return RankContext::current().counters().ops_launched - before;
  };
  const int64_t kept = launches_of_backward(f({x, w}));
  const int64_t forward = 2;
  EXPECT_EQ(launches_of_backward(recompute(f, {x, w})), kept + forward + 1);  // + 1: adds to w's
}

TEST(Recompute, HoldsOnlyTheInputs) {
  Tensor x = full({4096}, 0.5f);  // on the device from the start
  x.set_requires_grad();
  const auto chain = [](const std::vector<Tensor>& in) {
    Tensor y = in[0];
    for (int i = 0; i < 8; ++i) y = tanh(y);
    return y;
  };
  const int64_t before = memory_stats(CPUPlace()).current;
  const Tensor kept = chain({x});
  const int64_t with_history = memory_stats(CPUPlace()).current - before;
  const Tensor again = recompute(chain, {x});
  const int64_t recomputed = memory_stats(CPUPlace()).current - before - with_history;
  EXPECT_EQ(with_history, 8 * 4096 * 4);
  EXPECT_EQ(recomputed, 4096 * 4);
}

// What a function counts, and reads: the second call finds what the first one did.
TEST(Recompute, TensorsThatTheFunctionWritesToAreWrittenOnce) {
  const Tensor w = leaf({2, 3, 4});
  Tensor count = full({3}, 1.0f);
  const auto f = [&](const std::vector<Tensor>& in) {
    Tensor y = multiply(multiply(in[0], w), scale(count, 1.0));
    Tensor view = count.detach();
    scale_(view, 2.0);
    return y;
  };
  const auto gradients = [&](bool again) {
    count = full({3}, 1.0f);
    const Tensor x = leaf({0.5f, -1, 2});
    Tensor w_again = w;
    w_again.clear_grad();
    const auto run = [&] { return sum(again ? recompute(f, {x}) : f({x})); };
    const Tensor first = run();
    const Tensor second = run();
    EXPECT_EQ(values(count), (std::vector<float>{4, 4, 4}));
    first.backward();
    EXPECT_EQ(values(count), (std::vector<float>{4, 4, 4}));
    second.backward(Tensor(), /*retain_graph=*/true);
    second.backward();
    EXPECT_EQ(values(count), (std::vector<float>{4, 4, 4}));
    return std::pair(values(x.grad()), values(w.grad()));
  };
  EXPECT_EQ(gradients(true), gradients(false));
}

TEST(Recompute, WithinARecomputedFunctionToo) {
  Tensor count = full({1}, 1.0f);
  const auto inner = [&](const std::vector<Tensor>& in) {
    Tensor y = multiply(in[0], scale(count, 1.0));
    scale_(count, 3.0);
    return y;
  };
  const auto outer = [&](const std::vector<Tensor>& in) {
    return tanh(recompute(inner, {recompute(inner, {in[0]})}));
  };
  const auto plain = [&](const std::vector<Tensor>& in) { return tanh(inner({inner({in[0]})})); };
  const Tensor x = leaf({0.25f});
  sum(recompute(outer, {x})).backward();
  EXPECT_EQ(values(count), (std::vector<float>{9}));
  const auto dx = values(x.grad());
  count = full({1}, 1.0f);
  const Tensor same = leaf({0.25f});
  sum(plain({same})).backward();
  EXPECT_EQ(dx, values(same.grad()));
}

TEST(Recompute, AnErrorOfTheSecondCallTakesItsWritesBack) {
  Tensor count = full({1}, 1.0f);
  int calls = 0;
  const auto f = [&](const std::vector<Tensor>& in) {
    scale_(count, 2.0);
    PHI_CHECK(++calls < 2, errors::InvalidArgument("the second call"));
    return multiply(in[0], in[0]);
  };
  const Tensor y = sum(recompute(f, {leaf({0.25f})}));
  EXPECT_THAT([&] { y.backward(); }, ThrowsError(ErrorCode::kInvalidArgument, "the second call"));
  EXPECT_EQ(values(count), (std::vector<float>{2}));
}

TEST(Recompute, KeepsNoCopiesOfWhatTheFunctionMakesForItself) {
  Tensor x = full({4096}, 0.5f);
  x.set_requires_grad();
  const auto f = [](const std::vector<Tensor>& in) {
    Tensor y = scale(in[0], 2.0);
    scale_(y, 2.0);
    return tanh(y);
  };
  const int64_t before = memory_stats(CPUPlace()).current;
  reset_memory_peak(CPUPlace());
  const Tensor y = recompute(f, {x});
  EXPECT_EQ(memory_stats(CPUPlace()).current - before, 4096 * 4);
  EXPECT_LE(memory_stats(CPUPlace()).peak - before, 2 * 4096 * 4);
}

TEST(Recompute, MasksOfDropoutAreTheSameAgain) {
  const Tensor x = leaf(std::vector<float>(64, 1.0f));
  const Tensor y = recompute(
      [](const std::vector<Tensor>& in) {
        return dropout(in[0], std::nullopt, 0.5, false, "upscale_in_train", 7, true);
      },
      {x});
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), values(y));
}

// ---- work put off ----

TEST(BackwardDeferring, InputsNowAndWeightsLater) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const Tensor y = multiply(tanh(multiply(x, w)), w);
  const auto expected = grad({sum(y)}, {x, w}, {}, /*retain_graph=*/true);
  DeferredGradients weights;
  backward_deferring(sum(y), {}, {x}, &weights);
  EXPECT_EQ(values(x.grad()), values(expected[0]));
  EXPECT_FALSE(w.grad().defined());
  weights.run();
  EXPECT_EQ(values(w.grad()), values(expected[1]));
}

TEST(BackwardDeferring, GoesThroughRecompute) {
  const Tensor x = leaf({1, 2});
  const Tensor w = leaf({3, 4});
  const auto f = [&](const std::vector<Tensor>& in) { return tanh(multiply(in[0], w)); };
  const auto expected = grad({sum(f({x}))}, {x, w});
  DeferredGradients weights;
  backward_deferring(sum(recompute(f, {x})), {}, {x}, &weights);
  EXPECT_EQ(values(x.grad()), values(expected[0]));
  EXPECT_FALSE(w.grad().defined());
  weights.run();
  EXPECT_EQ(values(w.grad()), values(expected[1]));
}

// ---- distributed ----

TEST(DistributedAutograd, AGradientLiesLikeItsTensor) {
  distributed::run_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"tp"});
    Tensor x = shard_tensor(full({4, 4}, 1.0f), mesh, {Replicate()});
    Tensor w = shard_tensor(full({4, 6}, 0.5f), mesh, {Shard(1)});
    x.set_requires_grad();
    w.set_requires_grad();
    mean(matmul(x, w)).backward();
    EXPECT_EQ(x.grad().dist_attr(), x.dist_attr());
    EXPECT_EQ(w.grad().dist_attr(), w.dist_attr());
    EXPECT_FLOAT_EQ(x.grad().values<float>()[0], 6 * 0.5f / 24);
  });
}

TEST(DistributedAutograd, PartialGradientsAreReducedOnceForAllMicroBatches) {
  distributed::run_ranks(2, [](distributed::World& world) {
    const ProcessMesh mesh({2}, {"dp"});
    Tensor w = shard_tensor(full({4, 4}, 1.0f), mesh, {Replicate()});
    w.set_requires_grad();
    const auto backward = [&] {
      mean(matmul(shard_tensor(full({8, 4}, 1.0f), mesh, {Shard(0)}), w)).backward();
    };
    backward();
    const int64_t sent = world.rank_context().counters().bytes_sent;
    backward();
    backward();
    EXPECT_EQ(world.rank_context().counters().bytes_sent, sent);
    EXPECT_TRUE(w.grad_so_far().dist_attr()->has_partial());
    EXPECT_FLOAT_EQ(w.grad().values<float>()[0], 3 * 0.25f);
    EXPECT_GT(world.rank_context().counters().bytes_sent, sent);
  });
}

TEST(DistributedAutograd, RanksOutsideTheMeshRunTheSameGraphOnMetaAlone) {
  distributed::run_ranks(4, [](distributed::World& world) {
    const ProcessMesh first({2}, {"tp"}, {0, 1}), second({2}, {"tp"}, {2, 3});
    Tensor w0 = shard_tensor(full({64, 64}, 0.1f), first, {Shard(1)});
    Tensor w1 = shard_tensor(full({64, 64}, 0.1f), second, {Shard(0)});
    w0.set_requires_grad();
    w1.set_requires_grad();
    const Tensor x = shard_tensor(full({8, 64}, 1.0f), first, {Replicate()});
    const Tensor h = gelu(matmul(x, w0));
    const Tensor y = matmul(h, w1);
    mean(square(y)).backward();
    const bool in_first = world.rank() < 2;
    EXPECT_EQ(w0.grad().initialized(), in_first);
    EXPECT_EQ(w1.grad().initialized(), !in_first);
    EXPECT_EQ(w0.grad().shape(), (Dims{64, 64}));
    EXPECT_EQ(w0.grad().dist_attr(), w0.dist_attr());
    EXPECT_EQ((in_first ? w1 : w0).grad().nbytes_here(), 0u);
    EXPECT_GT(world.rank_context().counters().ops_clipped, 0);
  });
}

TEST(DistributedAutograd, APlainTensorGetsAPlainGradientOnEveryRank) {
  distributed::run_ranks(3, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"tp"}, {0, 2});
    Tensor x = leaf({1, 2, 3});
    const Tensor w = shard_tensor(full({3}, 2.0f), mesh, {Shard(0)});
    sum(multiply(x, w)).backward();
    EXPECT_FALSE(x.grad().is_dist());
    EXPECT_THAT(values(x.grad()), ElementsAre(2, 2, 2));
  });
}

TEST(DistributedAutograd, MovesAreDifferentiable) {
  distributed::run_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"x"});
    Tensor x = leaf({1, 2, 3, 4});
    const Tensor sharded = shard_tensor(x, mesh, {Shard(0)});
    const Tensor whole = reshard(sharded, mesh, {Replicate()});
    sum(square(whole)).backward();
    EXPECT_THAT(values(x.grad()), ElementsAre(2, 4, 6, 8));
  });
}

}  // namespace
}  // namespace phi
