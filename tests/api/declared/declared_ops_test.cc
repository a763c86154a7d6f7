// Operators that are declared only: what is here of them works, and a call says what is missing.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/capture/program.h"
#include "api/generated/api.h"
#include "api/generated/ops/t_distribute.h"
#include "api/generated/ops/t_gather.h"
#include "api/generated/ops/t_harden.h"
#include "api/generated/ops/t_merge.h"
#include "api/generated/ops/t_normalise.h"
#include "api/generated/ops/t_observe.h"
#include "api/generated/ops/t_ones.h"
#include "api/generated/ops/t_real.h"
#include "api/generated/ops/t_relu.h"
#include "api/generated/ops/t_sample.h"
#include "api/generated/ops/t_shifted_tanh.h"
#include "api/generated/ops/t_soften.h"
#include "api/generated/ops/t_unscale.h"
#include "api/generated/ops/t_update_.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

const auto kUnimplemented = ErrorCode::kUnimplemented;

Tensor ones(const IntArray& shape) { return full(shape, 1.0f); }

TEST(DeclaredOps, WithoutAKernelTheyRunDry) {
  distributed::DryWorld world(0, 2);
  const distributed::World::Scope scope(world);
  const distributed::ProcessMesh mesh({2}, {"dp"});
  const Tensor x =
      distributed::placeholder({8, 4}, DataType::FLOAT32, mesh, {distributed::Shard(0)});
  const Tensor out = t_soften(x);
  EXPECT_EQ(out.shape(), Dims({8, 4}));
  EXPECT_EQ(out.dist().attr(), x.dist().attr()) << "its rule is here";
  EXPECT_EQ(out.dist().local().dims(), Dims({4, 4}));
  EXPECT_TRUE(t_harden(x).dist().attr()->is_replicated()) << "its rule is not";
}

TEST(DeclaredOps, ListsViewsAndOptionalAttributesRunDry) {
  distributed::DryWorld world(0, 2);
  const distributed::World::Scope scope(world);
  const distributed::ProcessMesh mesh({2}, {"dp"});
  const auto lay = [&](const Dims& shape) {
    return distributed::placeholder(shape, DataType::FLOAT32, mesh, {distributed::Shard(0)});
  };
  const auto [out, found] = t_unscale({lay({8, 4}), lay({6})}, full({1}, 2.0f));
  ASSERT_EQ(out.size(), 2u);
  EXPECT_EQ(out[1].shape(), Dims({6}));
  EXPECT_EQ(out[0].dist().local().dims(), Dims({4, 4})) << "its rule is here";
  EXPECT_EQ(found.dtype(), DataType::BOOL);
  const auto [seen, mask] = t_observe(lay({8, 4}), std::nullopt);
  EXPECT_EQ(seen.shape(), Dims({8, 4}));
  EXPECT_TRUE(mask.dist().attr()->is_replicated());
}

TEST(DeclaredOps, AKernelThatTakesOtherArgumentsIsNotCalled) {
  EXPECT_THAT([] { t_shifted_tanh(ones({2}), 1.0f); },
              ThrowsError(kUnimplemented, "kernel 'tanh_of_t_shifted_tanh' is not registered"));
}

TEST(DeclaredOps, WithoutAKernelTheyAreCapturedAndTheProgramDoesNotRun) {
  const distributed::ProcessMesh mesh({1}, {"dp"});
  const Tensor x = distributed::shard_tensor(ones({2, 3}), mesh, {distributed::Shard(0)});
  const Program program =
      capture([](const TensorList& in) { return TensorList{add(t_soften(in[0]), in[0])}; }, {x});
  EXPECT_THAT(program.to_string(), ::testing::HasSubstr("= t_soften("));
  EXPECT_THAT(
      [&] { program.run({x}); },
      ThrowsError(kUnimplemented,
                  "kernel 't_soften' is not registered: it is declared only. Implement it"));
}

TEST(DeclaredOps, WithoutAKernelTheyAreCapturedInADryRun) {
  distributed::DryWorld world(0, 2);
  const distributed::World::Scope scope(world);
  const distributed::ProcessMesh mesh({2}, {"dp"});
  const Tensor x =
      distributed::placeholder({8, 4}, DataType::FLOAT32, mesh, {distributed::Shard(0)});
  const Program program =
      capture([](const TensorList& in) { return TensorList{t_soften(in[0])}; }, {x});
  EXPECT_THAT(program.to_string(), ::testing::HasSubstr("f32[8,4] [S0]"));
}

TEST(DeclaredOps, WithoutAKernelACallIsAnError) {
  EXPECT_THAT(
      [] {
        t_soften(ones({2, 3}));
      },
      ThrowsError(kUnimplemented,
                  "kernel 't_soften' is not registered: it is declared only. Implement it, and add "
                  "PHI_REGISTER_KERNEL(t_soften, CPU, <function>, <types>)."));
  const distributed::ProcessMesh mesh({1}, {"dp"});
  const Tensor x = distributed::shard_tensor(ones({2, 3}), mesh, {distributed::Shard(0)});
  EXPECT_THAT([&] { t_soften(x); }, ThrowsError(kUnimplemented, "is declared only"));
}

TEST(DeclaredOps, ACallSaysWhatIsMissing) {
  const Tensor x = ones({2, 2});
  std::vector<Tensor> list = {x};
  EXPECT_THAT(
      [&] { t_normalise(x, x, x, x, false); },
      ThrowsError(kUnimplemented, "t_normalise is declared only: no header of phi/infermeta"));
  EXPECT_THAT([&] { t_distribute(x, x, 1, 2); },
              ThrowsError(kUnimplemented, "declares 'DistributeInferMeta'"));
  EXPECT_THAT([&] { t_update_(list, list, list, x, 0.5, 1); },
              ThrowsError(kUnimplemented, "declares 'UpdateInferMeta'"));
  EXPECT_THAT([&] { t_sample(x, list, std::nullopt); },
              ThrowsError(kUnimplemented, "declares 'SampleInferMeta'"));
  EXPECT_THAT(
      [&] { t_ones({2}); },
      ThrowsError(kUnimplemented, "does not declare 'full_like_impl', and no op has this name"));
  EXPECT_THAT([&] { t_gather(x); },
              ThrowsError(kUnimplemented, "kernel 't_gather' is not registered"));
  EXPECT_THAT([&] { t_merge(x); },
              ThrowsError(kUnimplemented, "'t_merge': no alternative for dense tensors"));
}

TEST(DeclaredOps, AGradientThatIsMissingIsNotForgotten) {
  Tensor x = ones({2});
  x.set_requires_grad(true);
  const Tensor relu = t_relu(x), real = t_real(x);
  EXPECT_THAT([&] { relu.backward(ones({2})); },
              ThrowsError(kUnimplemented,
                          "t_relu_grad is declared only: no header of phi/infermeta and "
                          "distributed/spmd/rules declares 'ReluGradInferMeta'"));
  EXPECT_THAT([&] { real.backward(ones({2})); },
              ThrowsError(kUnimplemented, "kernel 't_real_grad' is not registered"));
  const Tensor harden_grad = ones({2});
  EXPECT_THAT([&] { t_harden_grad(x, harden_grad); },
              ThrowsError(kUnimplemented, "t_harden_grad is declared only: 'x_grad' is an output"));
  EXPECT_THAT([&] { t_relu_grad(x, x); }, ThrowsError(kUnimplemented, "declared only"));
}

}  // namespace
}  // namespace phi
