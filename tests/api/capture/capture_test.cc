// Captured programs against the functions that they were captured from: the same bits, on plain and
// distributed tensors, forward, backward and with parameters that are written to.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/autograd/autograd.h"
#include "api/capture/program.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/subtract.h"
#include "api/tensor/deferred.h"
#include "api/tensor/placeholder.h"
#include "capture_support.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::on_ranks;
using phi::testing::bytes_of;
using phi::testing::weights;
using phi::testing::weights_within;
using ::testing::HasSubstr;

TEST(Capture, InputsMayLieWithinLargerStorages) {
  const auto f = [](const TensorList& in) { return TensorList{gelu(in[0])}; };
  const Tensor within = weights_within({4, 8}, 1);
  for (const Tensor& captured : {within, weights({4, 8}, 7)}) {
    const Program program = capture(f, {captured});
    for (const Tensor& x : {within, weights({4, 8}, 2)}) {
      EXPECT_EQ(bytes_of(program.run({x})[0]), bytes_of(f({x})[0]));
    }
  }
}

// Two layers and a loss.
struct Mlp {
  Tensor up = weights({16, 32}, 1);
  Tensor down = weights({32, 8}, 2);

  Tensor loss(const Tensor& x) const {
    return mean(square(matmul(gelu(matmul(x, up)), down)), {}, false);
  }
};

TEST(Capture, GivesTheBitsOfTheFunction) {
  const Mlp mlp;
  const auto f = [&](const TensorList& in) { return TensorList{mlp.loss(in[0]), in[0]}; };
  const Program program = capture(f, {weights({4, 16}, 3)});
  for (const uint64_t seed : {3, 4}) {
    const Tensor x = weights({4, 16}, seed);
    const TensorList out = program.run({x});
    EXPECT_EQ(bytes_of(out[0]), bytes_of(f({x})[0]));
    EXPECT_EQ(bytes_of(out[1]), bytes_of(x));
  }
}

TEST(Capture, TakesNoBytesAndLooksAtNone) {
  const Mlp mlp;
  int64_t peak = 0;
  const auto f = [&](const TensorList& in) {
    const Tensor y = mlp.loss(in[0]);
    peak = memory_stats(CPUPlace()).peak;
    return TensorList{y};
  };
  const Tensor x = placeholder({1 << 20, 16}, DataType::FLOAT32, CPUPlace());
  const Program program = capture(f, {x});
  EXPECT_EQ(peak, 0);  // of the capture's own account
  EXPECT_GE(program.arena_bytes(), int64_t{1} << 20);
}

TEST(Capture, ParametersAreToldApartByTheirBytes) {
  const Mlp mlp;
  const Tensor same = mlp.up.detach();
  const Program program = capture(
      [&](const TensorList& in) {
        return TensorList{matmul(in[0], mlp.up), matmul(in[0], same), matmul(in[0], mlp.up)};
      },
      {weights({4, 16}, 3)});
  EXPECT_EQ(program.parameters().size(), 1u);
  EXPECT_EQ(program.body().operations.size(), 3u);
  EXPECT_EQ(program.body().inputs.size(), 2u);
}

TEST(Capture, GradientsAndUpdatesOfParameters) {
  const auto train = [](Mlp& mlp, const Tensor& x, bool captured) {
    for (Tensor* w : {&mlp.up, &mlp.down}) w->set_requires_grad();
    const auto step = [&](const TensorList& in) {
      const Tensor loss = mlp.loss(in[0]);
      const TensorList grads = grad({loss}, {mlp.up, mlp.down});
      const NoGrad no_grad;
      Tensor up = mlp.up.detach();
      Tensor down = mlp.down.detach();
      subtract_(up, scale(grads[0], 0.1));
      subtract_(down, scale(grads[1], 0.1));
      return TensorList{loss.detach()};
    };
    std::vector<std::vector<std::byte>> results;
    std::optional<Program> program;
    if (captured) program.emplace(capture(step, {x}));
    for (int i = 0; i < 3; ++i) {
      results.push_back(bytes_of((captured ? program->run({x}) : step({x}))[0]));
    }
    results.push_back(bytes_of(mlp.up));
    results.push_back(bytes_of(mlp.down));
    return results;
  };
  Mlp eager;
  Mlp replayed;
  const Tensor x = weights({4, 16}, 3);
  EXPECT_EQ(train(eager, x, false), train(replayed, x, true));
}

// One layer split over ranks, then a second stage on other ranks.
TEST(Capture, DistributedCallsReshardsAndClips) {
  on_ranks(4, [](World& world) {
    const ProcessMesh first({2}, {"tp"}, {0, 1});
    const ProcessMesh second({2}, {"tp"}, {2, 3});
    const Tensor up = shard_tensor(weights({16, 32}, 1), first, {Shard(1)});
    const Tensor down = shard_tensor(weights({32, 8}, 2), first, {Shard(0)});
    const Tensor head = shard_tensor(weights({8, 6}, 3), second, {Shard(1)});
    const auto f = [&](const TensorList& in) {
      const Tensor h = matmul(gelu(matmul(in[0], up)), down);  // partial
      const Tensor there = reshard(h, second, {Replicate()});
      return TensorList{h, matmul(there, head)};
    };
    const Tensor x = shard_tensor(weights({5, 16}, 4), first, {Replicate()});
    const TensorList expected = f({x});
    const Counters before = world.rank_context().counters();
    f({x});
    const int64_t launched = world.rank_context().counters().ops_launched - before.ops_launched;
    const Program program = capture(f, {x});
    const int64_t sent = world.rank_context().counters().bytes_sent;
    for (int i = 0; i < 2; ++i) {
      const int64_t so_far = world.rank_context().counters().ops_launched;
      const TensorList out = program.run({x});
      EXPECT_EQ(world.rank_context().counters().ops_launched - so_far, launched);
      for (size_t k = 0; k < 2; ++k) {
        EXPECT_EQ(out[k].dist_attr(), expected[k].dist_attr());
        EXPECT_EQ(out[k].shape(), expected[k].shape());
        EXPECT_EQ(bytes_of(out[k]), bytes_of(expected[k])) << "rank " << world.rank();
      }
    }
    EXPECT_EQ(program.num_clipped(), world.rank() < 2 ? 1 : 3);
    if (world.rank() < 2) {
      EXPECT_GT(world.rank_context().counters().bytes_sent, sent);
    }
    EXPECT_THAT(program.to_string(), HasSubstr("reshard(%"));
    EXPECT_THAT(program.to_string(), HasSubstr("parameter %"));
  });
}

TEST(Capture, TheGlobalProgramIsTheSameOnEveryRank) {
  std::vector<std::string> texts(4);
  on_ranks(4, [&](World& world) {
    const ProcessMesh first({2}, {"dp"}, {0, 1});
    const ProcessMesh second({2}, {"dp"}, {2, 3});
    Tensor a = shard_tensor(weights({16, 16}, 1), first, {Replicate()});
    Tensor b = shard_tensor(weights({16, 16}, 2), second, {Replicate()});
    a.set_requires_grad();
    b.set_requires_grad();
    const auto f = [&](const TensorList& in) {
      const Tensor h = reshard(gelu(matmul(in[0], a)), second, {Shard(0)});
      const Tensor loss = mean(square(matmul(h, b)), {}, false);
      return grad({loss}, {a, b});
    };
    const Tensor x = shard_tensor(weights({8, 16}, 3), first, {Shard(0)});
    const Program program = capture(f, {x});
    texts[static_cast<size_t>(world.rank())] = program.to_string();
    const TensorList out = program.run({x});
    const TensorList expected = f({x});
    for (size_t k = 0; k < 2; ++k) EXPECT_EQ(bytes_of(out[k]), bytes_of(expected[k]));
  });
  for (size_t rank = 1; rank < 4; ++rank) EXPECT_EQ(texts[rank], texts[0]);
}

TEST(Capture, TensorsThatEndMakeRoomInTheArena) {
  const auto f = [](const TensorList& in) {
    Tensor x = in[0];
    for (int i = 0; i < 20; ++i) x = gelu(x);
    return TensorList{x};
  };
  const Tensor x = weights({64, 64}, 1);
  const Program program = capture(f, {x});
  const int64_t before = memory_stats(CPUPlace()).current;
  EXPECT_EQ(program.arena_bytes(), 2 * 64 * 64 * 4);
  EXPECT_EQ(memory_stats(CPUPlace()).current, before) << "the first run allocates the arena";
  EXPECT_EQ(bytes_of(program.run({x})[0]), bytes_of(f({x})[0]));
}

// Most bytes of a captured training step of two runs, with deferred weights and a constant.
int64_t peak_of_runs() {
  const RankContext& rank = RankContext::current();
  const Tensor up = deferred_gaussian({16, 3000}, 0.0f, 1.0f, 1);
  const auto f = [&](const TensorList& in) {
    const Tensor h = gelu(matmul(in[0], up));
    return TensorList{mean(square(add(h, deferred_full({3000}, 2.0))), {}, false)};
  };
  const Tensor x = deferred_full({4, 16}, 1.0);
  const Program program = capture(f, {x});
  program.run({x});
  program.run({x});
  return rank.is_dry() ? rank.memory()->planned().peak : memory_stats(CPUPlace()).peak;
}

TEST(Capture, ADryRankHoldsWhatARealOneHolds) {
  std::vector<int64_t> peaks;
  for (const auto execution : {Execution::kReal, Execution::kDry}) {
    RankContext context(0, 1, execution);
    const RankContext::Scope scope(context);
    peaks.push_back(peak_of_runs());
    EXPECT_EQ(context.counters().ops_launched, 2 * 5);
  }
  EXPECT_EQ(peaks[0], peaks[1]);
  EXPECT_GT(peaks[0], 2 * 4 * 3000 * 4);
}

TEST(Capture, ConstantsAreMadeOnce) {
  const auto f = [](const TensorList& in) {
    return TensorList{add(in[0], deferred_gaussian({4, 4}, 0.0f, 1.0f, 7))};
  };
  const Tensor x = weights({4, 4}, 1);
  const Program program = capture(f, {x});
  EXPECT_EQ(program.constants().size(), 1u);
  EXPECT_EQ(program.parameters().size(), 0u);
  for (int i = 0; i < 2; ++i) EXPECT_EQ(bytes_of(program.run({x})[0]), bytes_of(f({x})[0]));
}

TEST(Capture, ReadingAValueIsAnError) {
  const auto f = [](const TensorList& in) { return TensorList{full({1}, in[0].item())}; };
  EXPECT_THAT([&] { capture(f, {weights({1}, 1)}); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "a program is being captured"));
}

TEST(Capture, NeitherCapturesNorProgramsNest) {
  const auto f = [](const TensorList& in) { return TensorList{gelu(in[0])}; };
  const Tensor x = weights({4}, 1);
  const Program program = capture(f, {x});
  EXPECT_THAT(
      [&] { capture([&](const TensorList& in) { return program.run(in); }, {x}); },
      ThrowsError(ErrorCode::kPreconditionNotMet, "call the function that it was captured"));
  EXPECT_THAT(
      [&] {
        capture(
            [&](const TensorList& in) {
              capture(f, in);
              return in;
            },
            {x});
      },
      ThrowsError(ErrorCode::kPreconditionNotMet, "call the inner one itself"));
}

TEST(Capture, AGradientThatStaysIsAnError) {
  Mlp mlp;
  mlp.up.set_requires_grad();
  const auto f = [&](const TensorList& in) {
    mlp.loss(in[0]).backward();
    return TensorList{};
  };
  EXPECT_THAT(
      [&] {
        capture(f, {weights({4, 16}, 1)});
      },
      ThrowsError(ErrorCode::kPreconditionNotMet, "leaves a gradient on the parameter"));
  EXPECT_FALSE(mlp.up.grad().defined());
}

TEST(Capture, InputsMustBeAsCaptured) {
  const Program program =
      capture([](const TensorList& in) { return TensorList{gelu(in[0])}; }, {weights({4, 4}, 1)});
  EXPECT_THAT(
      [&] {
        program.run({weights({4, 5}, 1)});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "input 0 of a captured program is f32[4,5]"));
  EXPECT_THAT([&] { program.run({}); },
              ThrowsError(ErrorCode::kInvalidArgument, "takes 1 inputs, 0 are passed"));
}

}  // namespace
}  // namespace phi
