// Checks of calls as they run: what is right passes and changes nothing; a wrong rule or kernel and
// a number that is not finite are named.
#include <gmock/gmock.h>

#include <limits>
#include <string>

#include "api/explain/check_numbers.h"
#include "api/explain/check_ops.h"
#include "api/generated/ops/add_n.h"
#include "api/generated/ops/complex.h"
#include "api/generated/ops/dropout.h"
#include "api/generated/ops/exp.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gaussian.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/log.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/softmax.h"
#include "api/generated/ops/split.h"
#include "api/generated/ops/sum.h"
#include "api/nn/layers/linear.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/runtime.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/generated/kernels/unary.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Property;
using ::testing::Throws;

const ProcessMesh& tp() {
  static const ProcessMesh mesh({2}, {"tp"});
  return mesh;
}

Tensor noise(const Dims& shape, int seed) { return gaussian(shape, 0.0f, 1.0f, seed); }

class Net final : public nn::Sequential {
 public:
  Net() {
    add<nn::Linear>("up", 3, 8, nn::LinearOptions{.weight = nn::normal(0.5)});
    add<nn::Linear>("down", 8, 2, nn::LinearOptions{.weight = nn::normal(0.5)});
  }
};

std::vector<training::Batch> batches() {
  return {{noise({4, 3}, 1), noise({4, 2}, 2)}, {noise({4, 3}, 3), noise({4, 2}, 4)}};
}

// Losses of some steps on a mesh, with or without a check around each.
template <typename Around>
std::vector<double> losses(const ProcessMesh& mesh, const nn::Layout& layout, Around&& around) {
  Net net;
  nn::shard(net, mesh, layout);
  training::Trainer trainer(net, nn::mean_squared_error,
                            {.rate = {.peak = 0.1}, .micro_batches = 2});
  std::vector<double> out;
  for (int step = 0; step < 2; ++step) {
    around([&] { out.push_back(trainer.step(batches()).loss); });
  }
  return out;
}

nn::Layout split() {
  nn::Layout layout;
  layout.batches({{"dp", Shard(0)}})
      .parameters("up.weight", {{"tp", Shard(1)}})
      .parameters("up.bias", {{"tp", Shard(0)}})
      .parameters("down.weight", {{"tp", Shard(0)}})
      .outputs("down", {{"tp", Replicate()}});
  return layout;
}

TEST(CheckOps, ATrainingStepPassesAndIsTheSame) {
  run_ranks(4, [](distributed::World&) {
    const ProcessMesh mesh({2, 2}, {"dp", "tp"});
    int64_t checked = 0;
    const auto without = losses(mesh, split(), [](const auto& f) { f(); });
    const auto with = losses(mesh, split(), [&](const auto& f) { checked += check_ops(f); });
    EXPECT_EQ(without, with);
    EXPECT_GT(checked, 40);
  });
}

// Ranks are checked where they compute, and sends between stages go on meanwhile.
TEST(CheckOps, APipelineWithARankOfEachStage) {
  run_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"pp"});
    const nn::Layout layout = nn::Layout().pipeline("pp", "*");
    const auto without = losses(mesh, layout, [](const auto& f) { f(); });
    int64_t checked = 0;
    const auto with = losses(mesh, layout, [&](const auto& f) { checked += check_ops(f); });
    EXPECT_EQ(without, with);
    EXPECT_GT(checked, 10);
  });
}

TEST(CheckOps, InplaceCallsRandomOnesAndListsAreRepeated) {
  run_ranks(2, [](distributed::World&) {
    const int64_t checked = check_ops([] {
      Tensor x = shard_tensor(noise({5, 4}, 1), tp(), {Shard(0)});
      relu_(x);
      const Tensor dropped = dropout(x, std::nullopt, 0.5, false, "upscale_in_train", 7, true);
      add_n({x, dropped, x});
      split(x, {2, 3}, 0);
      matmul(shard_tensor(noise({4, 6}, 2), tp(), {Shard(1)}),
             shard_tensor(noise({6, 2}, 3).detach(), tp(), {Shard(0)}));
      gelu(shard_tensor(noise({4}, 4), tp(), {Partial()}));
    });
    EXPECT_EQ(checked, 6);
  });
}

// ---- what is wrong ----

// softmax under a rule that lets any dim be split.
const RuleFunctions& lying_rule() {
  static const RuleFunctions rule = [] {
    RuleFunctions lying = ops::softmax.rule;
    lying.name = "lying";
    lying.infer_spmd = [](const RuleArgs& args) -> distributed::SpmdRule {
      return distributed::Factors().input(args.spec(0), "mn").output("mn");
    };
    return lying;
  }();
  return rule;
}
const OpDef& lying_softmax() {
  static const OpDef op = {
      ops::softmax.name,       lying_rule(),       ops::softmax.inputs,    ops::softmax.outputs,
      ops::softmax.attributes, ops::softmax.taken, ops::softmax.meta_only, ops::softmax.kernel,
      ops::softmax.flops};
  return op;
}

// As a generated function would be.
Tensor softmax_under_a_wrong_rule(const Tensor& x, int axis) {
  const Call call(lying_softmax(), attrs(axis), x);
  const DistArgs args = call.on_one_mesh();
  const Decision& decision = call.decide(args, x.dtype());
  Tensor out = new_distributed(decision, 0);
  const LocalArgs local = reshard_inputs(args, decision);
  if (decision.computes_here()) {
    launch<kernels::softmax>(lying_softmax(), decision, x.dtype(), local[0], axis,
                             local_out(decision, out));
  }
  call.set_outputs(out);
  return out;
}

// gelu's kernel where relu is called.
Tensor relu_with_a_wrong_kernel(const Tensor& x) {
  const Call call(ops::relu, attrs(), x);
  const DistArgs args = call.on_one_mesh();
  const Decision& decision = call.decide(args, x.dtype());
  Tensor out = new_distributed(decision, 0);
  const LocalArgs local = reshard_inputs(args, decision);
  if (decision.computes_here()) {
    launch<kernels::exp>(ops::exp, decision, x.dtype(), local[0], local_out(decision, out));
  }
  call.set_outputs(out);
  return out;
}

TEST(CheckOps, AWrongRuleIsNamedWithPlacementsAndTheDifference) {
  run_ranks(2, [](distributed::World& world) {
    const Tensor x = shard_tensor(full({2, 4}, 1.0f), tp(), {Shard(1)});
    // Halves of rows that sum to 1 each: 1/2 for 1/4.
    EXPECT_THAT(
        [&] {
          check_ops(
              [&] {
                const Tensor halves = softmax_under_a_wrong_rule(x, 1);
                relu_with_a_wrong_kernel(halves);
              },
              {{"scores", x}});
        },
        ThrowsError(ErrorCode::kInternal,
                    fmt::format("[softmax] rank {}: output out f32[2,4] [S1] on mesh(tp=2) differs "
                                "from the same call in one process by 0.25 at element 0: 0.5, not "
                                "0.25; ",
                                world.rank())));
    EXPECT_THAT(
        [&] {
          check_ops([&] { relu_with_a_wrong_kernel(x); }, {{"scores", x}});
        },
        ThrowsError(ErrorCode::kInternal, "x f32[2,4] [S1] as [S1] (scores)"));
    EXPECT_FALSE(world.rank_context().observers().any());
  });
}

TEST(CheckOps, SumsOfComplexNumbersMayBeRounded) {
  run_ranks(2, [](distributed::World&) {
    const Tensor parts = gaussian({2, 512, 8});
    const Tensor x = shard_tensor(complex(slice(parts, {0}, {0}, {1}), slice(parts, {0}, {1}, {2})),
                                  tp(), {Shard(1)});
    EXPECT_EQ(check_ops([&] { sum(x, {1}).to_string(); }), 1);
  });
}

// ---- numbers ----

TEST(CheckNumbers, FiniteOnesPass) {
  run_ranks(2, [](distributed::World&) {
    const Tensor x = shard_tensor(full({4}, 2.0f), tp(), {Shard(0)});
    double loss = 0;
    check_numbers([&] { loss = distributed::gathered_everywhere(sum(log(x))).item(); });
    EXPECT_GT(loss, 2.7);
  });
}

// Only rank 1 has the number; all hear of it, though other operators follow.
TEST(CheckNumbers, TheFirstIsNamedOnAllRanks) {
  run_ranks(3, [](distributed::World& world) {
    const Tensor x = shard_tensor(Tensor::from<float>({1, 2, 3, -1}, {4}), tp(), {Shard(0)});
    EXPECT_THAT([&] { check_numbers([&] { exp(log(x)); }, /*step=*/7); },
                ThrowsError(ErrorCode::kNotFinite,
                            "step 7: the first number that is not finite, at rank 1: operator log: "
                            "its output has a number that is not finite, element 1 of f32[2] of "
                            "f32[4] [S0] on mesh(tp=2)"));
    EXPECT_FALSE(world.rank_context().observers().any());
  });
}

// What a trainer says of its loss is told with the place where it began.
TEST(CheckNumbers, AStepNamesMicroBatchAndModule) {
  run_ranks(2, [](distributed::World&) {
    Net net;
    nn::shard(net, ProcessMesh({2}, {"pp"}), nn::Layout().pipeline("pp", "*"));
    training::Trainer trainer(net, nn::mean_squared_error,
                              {.rate = {.peak = 0.1}, .micro_batches = 2});
    auto bad = batches();
    bad[1].inputs = full({4, 3}, std::numeric_limits<float>::infinity());
    EXPECT_THAT([&] { check_numbers([&] { trainer.step(bad); }, 1); },
                Throws<Error>(Property(
                    &Error::what, AllOf(HasSubstr("step 1: the first number that is not finite, at "
                                                  "rank 0: operator matmul: "),
                                        HasSubstr("at up ("), HasSubstr("micro-batch 1")))));
  });
}

// One within another: both see what the inner one runs, and the outer one what follows it too.
TEST(CheckNumbers, OneWithinAnotherLeavesItSeeing) {
  run_ranks(2, [](distributed::World&) {
    const Tensor good = shard_tensor(full({4}, 2.0f), tp(), {Shard(0)});
    const Tensor bad = shard_tensor(Tensor::from<float>({1, 2, 3, -1}, {4}), tp(), {Shard(0)});
    const auto says = ThrowsError(ErrorCode::kNotFinite,
                                  "the first number that is not finite, at rank 1: operator log: "
                                  "its output has a number that is not finite, element 1 of f32[2] "
                                  "of f32[4] [S0] on mesh(tp=2)");
    for (const int inner : {1, 2}) {
      EXPECT_THAT(
          [&] {
            check_numbers([&] {
              for (int i = 0; i < inner; ++i) check_numbers([&] { exp(good); });
              log(bad);
            });
          },
          says);
    }
    const auto quietly = [&] {
      EXPECT_THAT([&] { check_numbers([&] { log(bad); }); },
                  ThrowsError(ErrorCode::kNotFinite, "operator log"));
    };
    EXPECT_THAT([&] { check_numbers(quietly); }, says);
    EXPECT_THAT([&] { check_numbers([&] { check_numbers(quietly); }); },
                ThrowsError(ErrorCode::kNotFinite, "operator log"));
    check_numbers([&] { check_numbers([&] { exp(good); }); });
    EXPECT_THAT([&] { check_numbers([&] { log(bad); }); }, says);
  });
}

TEST(CheckNumbers, OtherErrorsAreNotTaken) {
  run_ranks(1, [](distributed::World&) {
    EXPECT_THAT([] { check_numbers([] { throw errors::OutOfRange("far out"); }); },
                ThrowsError(ErrorCode::kOutOfRange, "far out"));
    EXPECT_THAT([] { check_numbers([] { throw errors::Unavailable("gone"); }); },
                ThrowsError(ErrorCode::kUnavailable, "gone"));
  });
}

}  // namespace
}  // namespace phi
