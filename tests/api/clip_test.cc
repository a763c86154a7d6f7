// The distributed branch of generated functions: clipping, mixed inputs, lists, optionals, inplace,
// views, run-time shapes, and what each rank holds and sends. All ranks are threads.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <numeric>

#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "phi/api.h"
#include "support/counted_world.h"
#include "support/error_matchers.h"

namespace phi {
namespace {

using distributed::PendingTensor;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::start_reshard;
using distributed::World;
using distributed::testing::on_counted_ranks;
using ::testing::ElementsAre;

ProcessMesh stage(int index) { return ProcessMesh({2}, {"tp"}, {2 * index, 2 * index + 1}); }
bool in_stage(int index) { return distributed::rank() / 2 == index; }

Tensor iota(const Dims& shape) {
  std::vector<float> values(shape.numel());
  std::iota(values.begin(), values.end(), 1.0f);
  return Tensor::from<float>(values, shape);
}

std::vector<float> gathered(const Tensor& x, const ProcessMesh& mesh) {
  const Tensor whole = reshard(x, mesh, {});
  if (!whole.initialized()) return {};
  const auto values = whole.values<float>();
  return {values.begin(), values.end()};
}

Counters& counters() { return World::current().rank_context().counters(); }

void expect_clipped(const Tensor& x, const Dims& shape, DataType dtype, const ProcessMesh& mesh) {
  EXPECT_TRUE(x.defined());
  EXPECT_FALSE(x.initialized());
  EXPECT_TRUE(x.is_dist());
  EXPECT_EQ(x.shape(), shape);
  EXPECT_EQ(x.dtype(), dtype);
  EXPECT_EQ(x.layout(), DataLayout::NCHW);
  EXPECT_EQ(x.place(), CPUPlace());
  EXPECT_EQ(x.mesh(), mesh);
  EXPECT_EQ(x.nbytes_here(), 0u);
  EXPECT_EQ(x.local().shape(), Dims::filled(shape.ndim(), 0));
}

TEST(Clip, RanksOutsideTheMeshKeepMetaAndNoBytes) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor x = shard_tensor(iota({4, 6}), stage(0), {Replicate()});
    const Tensor w = shard_tensor(iota({6, 8}), stage(0), {Shard(1)});
    const int64_t before = memory_stats(CPUPlace()).current;
    const Counters start = counters();
    const Tensor y = relu(matmul(x, w));
    EXPECT_EQ(y.placements()[0], Shard(1));
    if (in_stage(0)) {
      EXPECT_TRUE(y.initialized());
      EXPECT_EQ(y.local().shape(), (Dims{4, 4}));
      EXPECT_EQ(counters().ops_launched - start.ops_launched, 2);
      EXPECT_EQ(counters().ops_clipped - start.ops_clipped, 0);
    } else {
      expect_clipped(y, {4, 8}, DataType::FLOAT32, stage(0));
      EXPECT_EQ(memory_stats(CPUPlace()).current, before);
      EXPECT_EQ(counters().ops_launched - start.ops_launched, 0);
      EXPECT_EQ(counters().ops_clipped - start.ops_clipped, 2);
    }
  });
}

// Two activations are on their way while stage 0 computes; they are used in the other order.
TEST(Clip, PendingReshardsBetweenStages_WithTheirGradients) {
  const Tensor x0 = iota({4, 6}), x1 = scale(iota({4, 6}), 0.5), w = iota({6, 8});
  const Tensor y0 = matmul(relu(matmul(x0, w)), iota({8, 3}));
  on_counted_ranks(4, [&](World& world) {
    Tensor dw = shard_tensor(w, stage(0), {Shard(1)});
    dw.set_requires_grad();
    const Tensor w1 = shard_tensor(iota({8, 3}), stage(1), {Replicate()});
    const auto first_stage = [&](const Tensor& x) {
      return relu(matmul(shard_tensor(x, stage(0), {Replicate()}), dw));
    };
    PendingTensor p0 = start_reshard(first_stage(x0), stage(1), {Shard(0)});
    PendingTensor p1 = start_reshard(first_stage(x1), stage(1), {Shard(0)});
    const Tensor h1 = p1.wait();
    const Tensor h0 = p0.wait();
    EXPECT_EQ(h0.shape(), (Dims{4, 8}));
    EXPECT_EQ(h0.initialized(), in_stage(1));
    const Tensor y = matmul(h0, w1);
    if (in_stage(1)) {
      EXPECT_THAT(gathered(y, stage(1)), ::testing::ElementsAreArray(y0.values<float>()));
    }
    sum(add(y, matmul(h1, w1))).backward();
    Tensor plain = iota({6, 8});
    plain.set_requires_grad();
    const auto whole = [&](const Tensor& x) {
      return matmul(relu(matmul(x, plain)), iota({8, 3}));
    };
    sum(add(whole(x0), whole(x1))).backward();
    const Tensor grad = dw.grad();
    if (in_stage(0)) {
      EXPECT_THAT(gathered(grad, stage(0)),
                  ::testing::ElementsAreArray(plain.grad().values<float>()));
    }
    world.drain();
  });
}

TEST(Clip, ReadingAClippedTensorSaysWhichAndWhy) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor x = shard_tensor(iota({4, 6}), stage(0), {Replicate()});
    const Tensor y = relu(x);
    if (in_stage(0)) return;
    EXPECT_THAT([&] { (void)y.values<float>(); },
                ThrowsError(ErrorCode::kPreconditionNotMet,
                            "f32[4,6] [R] on mesh(tp=2), made by relu, has no bytes on rank"));
    EXPECT_THAT([&] { (void)y.values<float>(); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "outside its mesh (ranks 0,1)"));
  });
}

TEST(Clip, TwoStagesEqualOneProcess) {
  const Tensor x = iota({4, 6}), w0 = iota({6, 8}), w1 = iota({8, 3});
  const Tensor expected = matmul(relu(matmul(x, w0)), w1);
  on_counted_ranks(4, [&](distributed::World&) {
    const Tensor dx = shard_tensor(iota({4, 6}), stage(0), {Replicate()});
    const Tensor dw0 = shard_tensor(iota({6, 8}), stage(0), {Shard(1)});
    const Tensor dw1 = shard_tensor(iota({8, 3}), stage(1), {Shard(0)});
    const Tensor h = relu(matmul(dx, dw0));
    const int64_t sent = counters().bytes_sent;
    const Tensor y = matmul(h, dw1);
    EXPECT_EQ(y.mesh(), stage(1));
    EXPECT_TRUE(y.placements()[0].is_partial());
    // Each rank of stage 0 sends its 4x4 half once; nobody gathers.
    if (in_stage(0)) {
      EXPECT_EQ(counters().bytes_sent - sent, 4 * 4 * 4);
    }
    const auto values = gathered(y, stage(1));
    if (in_stage(1)) {
      const auto want = expected.values<float>();
      EXPECT_THAT(values, ::testing::ElementsAreArray(want.begin(), want.end()));
    }
  });
}

TEST(Clip, AnInputGivenTwiceTravelsOnce) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor h = shard_tensor(iota({4, 4}), stage(0), {Shard(0)});
    const Tensor bias = shard_tensor(iota({4, 4}), stage(1), {Shard(0)});
    const int64_t sent = counters().bytes_sent;
    const Tensor y = add_n({h, h, h, bias});
    if (in_stage(0)) {
      EXPECT_EQ(counters().bytes_sent - sent, 2 * 4 * 4);
    }
    const auto values = gathered(y, stage(1));
    if (in_stage(1)) {
      EXPECT_EQ(values[5], 4 * 6.0f);
    }
    EXPECT_EQ(y.mesh(), stage(1));
  });
}

TEST(Clip, PlainInputsBecomeReplicatedAndStayPlainForTheCaller) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor plain = iota({6});
    const Tensor x = shard_tensor(iota({4, 6}), stage(1), {Shard(0)});
    const Tensor y = add(x, plain);
    EXPECT_FALSE(plain.is_dist());
    EXPECT_EQ(y.placements()[0], Shard(0));
    const auto values = gathered(y, stage(1));
    if (in_stage(1)) {
      EXPECT_EQ(values[7], 8.0f + 2.0f);
    }
    if (!in_stage(1)) expect_clipped(y, {4, 6}, DataType::FLOAT32, stage(1));
  });
}

TEST(Clip, ListInputsAndOutputs) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor a = shard_tensor(iota({4, 2}), stage(0), {Shard(0)});
    const Tensor b = shard_tensor(iota({4, 3}), stage(0), {Replicate()});
    const Tensor joined = concat({a, b}, 1);
    EXPECT_EQ(joined.shape(), (Dims{4, 5}));
    const TensorList parts = split(joined, {2, 3}, 1);
    ASSERT_EQ(parts.size(), 2u);
    const auto values = gathered(parts[1], stage(0));
    if (in_stage(0)) {
      EXPECT_EQ(values, gathered(b, stage(0)));
    } else {
      gathered(b, stage(0));
      expect_clipped(parts[0], {4, 2}, DataType::FLOAT32, stage(0));
    }
  });
}

TEST(Clip, AbsentOptionalInputs) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor x = shard_tensor(iota({4, 6}), stage(0), {Shard(0)});
    const Tensor y = swiglu(x, std::nullopt);
    EXPECT_EQ(y.shape(), (Dims{4, 3}));
    const Tensor z = layer_norm(x, std::nullopt, std::nullopt);
    EXPECT_EQ(z.shape(), (Dims{4, 6}));
    EXPECT_EQ(z.initialized(), in_stage(0));
  });
}

TEST(Clip, InplaceKeepsHandleAndPlacements) {
  on_counted_ranks(4, [](distributed::World&) {
    Tensor x = shard_tensor(iota({4, 6}), stage(0), {Shard(0)});
    const Tensor same = x;
    const Tensor minus = shard_tensor(full({4, 6}, -3.0f), stage(0), {Shard(1)});
    add_(x, minus);
    relu_(x);
    EXPECT_EQ(x.placements()[0], Shard(0));
    const auto values = gathered(same, stage(0));
    if (in_stage(0)) {
      EXPECT_EQ(values[0], 0.0f);
      EXPECT_EQ(values[23], 21.0f);
    } else {
      expect_clipped(x, {4, 6}, DataType::FLOAT32, stage(0));
    }
  });
}

TEST(Clip, InplaceWritesIntoTheSameBytes) {
  on_counted_ranks(2, [](distributed::World&) {
    Tensor x = shard_tensor(iota({4, 6}), stage(0), {Shard(0)});
    const float* bytes = x.values<float>().data();
    relu_(x);
    EXPECT_EQ(x.values<float>().data(), bytes);
  });
}

TEST(Clip, ViewsShareBytes) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor x = shard_tensor(iota({4, 6}), stage(0), {Shard(0)});
    const Tensor y = reshape(x, {4, 2, 3});
    EXPECT_EQ(y.shape(), (Dims{4, 2, 3}));
    EXPECT_EQ(y.placements()[0], Shard(0));
    if (in_stage(0)) {
      EXPECT_EQ(y.local().shape(), (Dims{2, 2, 3}));
      EXPECT_EQ(y.values<float>().data(), x.values<float>().data());
    } else {
      expect_clipped(y, {4, 2, 3}, DataType::FLOAT32, stage(0));
    }
    Tensor z = x;
    reshape_(z, {24});
    EXPECT_EQ(z.shape(), Dims{24});
  });
}

TEST(Clip, RunTimeShapesAreKnownEverywhere) {
  on_counted_ranks(4, [](distributed::World&) {
    const std::vector<float> data = {0, 1, 0, 2, 3, 0};
    const Tensor x = shard_tensor(Tensor::from<float>(data, {2, 3}), stage(1), {Shard(0)});
    const Tensor where = nonzero(x);
    EXPECT_EQ(where.shape(), (Dims{3, 2}));
    EXPECT_EQ(where.dtype(), DataType::INT64);
    EXPECT_EQ(where.mesh(), stage(1));
    EXPECT_EQ(where.initialized(), in_stage(1));
    if (in_stage(1)) {
      EXPECT_THAT(where.values<int64_t>(), ElementsAre(0, 1, 1, 0, 1, 1));
    }
    if (!in_stage(1)) expect_clipped(where, {3, 2}, DataType::INT64, stage(1));
    const auto [values, index, inverse, counts] = unique(x, false, true, true);
    EXPECT_EQ(values.shape(), Dims{4});
    EXPECT_FALSE(index.defined());
    EXPECT_EQ(counts.shape(), Dims{4});
    EXPECT_EQ(inverse.shape(), Dims{6});
    const Tensor picked = masked_select(x, cast(x, DataType::BOOL));
    EXPECT_EQ(picked.shape(), Dims{3});
    // What is built from a run-time shape is right on clipped ranks too.
    EXPECT_EQ(scale(picked, 2.0f).shape(), Dims{3});
  });
}

TEST(Clip, EmptyShardIsResidentOnAComputingRank) {
  on_counted_ranks(4, [](distributed::World&) {
    const ProcessMesh mesh({4}, {"dp"});
    const Tensor x = shard_tensor(iota({2, 3}), mesh, {Shard(0)});
    const Tensor y = exp(x);
    EXPECT_TRUE(y.initialized());
    EXPECT_EQ(y.local().shape()[0], distributed::rank() < 2 ? 1 : 0);
    EXPECT_EQ(gathered(y, mesh).size(), 6u);
  });
}

TEST(Clip, DecisionsAreCached) {
  on_counted_ranks(2, [](distributed::World&) {
    const Tensor x = shard_tensor(iota({4, 6}), stage(0), {Shard(0)});
    const Tensor a = relu(x), b = relu(x);
    EXPECT_EQ(a.dist_attr(), b.dist_attr());
    const Tensor c = scale(x, 2.0f), d = scale(x, 3.0f);
    EXPECT_NE(c.values<float>()[0], d.values<float>()[0]);
  });
}

TEST(Clip, AnErrorIsTheSameOnEveryRankAndNamesTheCall) {
  on_counted_ranks(4, [](distributed::World&) {
    const Tensor x = shard_tensor(iota({4, 6}), stage(0), {Shard(0)});
    const Tensor w = shard_tensor(iota({5, 2}), stage(1), {Replicate()});
    EXPECT_THAT([&] { matmul(x, w); }, ThrowsError(ErrorCode::kInvalidArgument, "[matmul]"));
    EXPECT_THAT(
        [&] { matmul(x, w); },
        ThrowsError(ErrorCode::kInvalidArgument,
                    "x f32[4,6] [S0] on mesh(tp=2), y f32[5,2] [R] on mesh(tp=2; ranks 2,3)"));
  });
}

// Ranks without the op's kernel to run find that it is not there, like those that would run it.
TEST(Clip, AMissingKernelIsFoundOnEveryRank) {
  on_counted_ranks(4, [](distributed::World& world) {
    const Tensor flags = full({4, 6}, true, DataType::BOOL);
    for (const auto& placement : {Replicate(), Shard(0)}) {
      const Tensor x = shard_tensor(flags, stage(1), {placement});
      const int64_t launched = world.rank_context().counters().ops_launched;
      for (int again = 0; again < 2; ++again) {
        EXPECT_THAT([&] { exp(x); }, ThrowsError(ErrorCode::kUnimplemented,
                                                 "[exp] kernel 'exp' is not registered for bool"));
        EXPECT_THAT([&] { subtract(flags, x); },
                    ThrowsError(ErrorCode::kUnimplemented, "called with x bool[4,6]"));
      }
      EXPECT_EQ(world.rank_context().counters().ops_launched, launched);
    }
  });
}

TEST(Clip, DeferredParametersAreNeverWhole) {
  on_counted_ranks(4, [](distributed::World&) {
    const int64_t before = memory_stats(CPUPlace()).current;
    World::current().rank_context().memory()->reset_peak(DeviceKind::CPU);
    const Tensor w = shard_tensor(deferred_gaussian({64, 64}, 0, 1, 7), stage(0), {Shard(1)});
    const int64_t held = memory_stats(CPUPlace()).peak - before;
    EXPECT_EQ(held, in_stage(0) ? 64 * 32 * 4 : 0);
    const Tensor whole = gaussian({64, 64}, 0, 1, 7);
    const auto values = gathered(w, stage(0));
    if (in_stage(0)) {
      const auto want = whole.values<float>();
      EXPECT_TRUE(std::equal(values.begin(), values.end(), want.begin(), want.end()));
    }
  });
}

TEST(Clip, RandomShardsArePartsOfTheWholeBitForBit) {
  const Tensor normal = gaussian({7, 5}, 1, 2, 9);
  const Tensor flat = uniform({7, 5}, DataType::FLOAT32, -1.0, 3.0, 9);
  on_counted_ranks(4, [&](World&) {
    const ProcessMesh mesh({2, 2}, {"dp", "tp"});
    for (const auto& placements :
         {std::vector{Shard(0), Shard(1)}, std::vector{Shard(1), Shard(1)}}) {
      const Tensor a = shard_tensor(deferred_gaussian({7, 5}, 1, 2, 9), mesh, placements);
      const Tensor b = shard_tensor(deferred_uniform({7, 5}, -1.0, 3.0, 9), mesh, placements);
      EXPECT_THAT(gathered(a, mesh), ::testing::ElementsAreArray(normal.values<float>()));
      EXPECT_THAT(gathered(b, mesh), ::testing::ElementsAreArray(flat.values<float>()));
    }
  });
}

TEST(Clip, DropoutMaskDoesNotDependOnTheSharding) {
  const Tensor expected = dropout(iota({6, 5}), std::nullopt, 0.5, false, "upscale_in_train", 11);
  on_counted_ranks(4, [&](distributed::World&) {
    const ProcessMesh mesh({2, 2}, {"dp", "tp"});
    const Tensor x = shard_tensor(iota({6, 5}), mesh, {Shard(0), Shard(1)});
    const Tensor y = dropout(x, std::nullopt, 0.5, false, "upscale_in_train", 11);
    const auto want = expected.values<float>();
    EXPECT_THAT(gathered(y, mesh), ::testing::ElementsAreArray(want.begin(), want.end()));
  });
}

}  // namespace
}  // namespace phi
