// What is not here costs nothing: bytes that placeholders, clipped calls, dry runs, captures and
// handles take of the system, asked of the system's allocators and of what the rank has reserved.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/generated/ops/add.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/tensor_api.h"
#include "support/counted_world.h"
#include "support/system/requested_bytes.h"

namespace phi {
namespace {

using distributed::DryWorld;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::CountedWorld;
using distributed::testing::MessageCounts;
using distributed::testing::on_counted_ranks;
using phi::testing::requested_bytes;

constexpr DataType kFloat = DataType::FLOAT32;
// A storage without bytes, in its block: what each tensor costs that has none.
constexpr int64_t kObjectBytes = 128;
// That, the tensor's handle, and what both point to.
constexpr int64_t kTensorBytes = 384;
// What a deferred one knows of its value.
constexpr int64_t kSourceBytes = 128;

int64_t reserved() {
  MemoryAccount& account = *RankContext::current().memory();
  return account.blocks().stats().reserved + account.objects().stats().reserved;
}

struct Cost {
  int64_t reserved = 0;
  int64_t requested = 0;
};

template <typename F>
Cost cost_of(const F& f) {
  const Cost before = {reserved(), requested_bytes()};
  [[maybe_unused]] const auto kept = f();
  return {reserved() - before.reserved, requested_bytes() - before.requested};
}

TEST(Absence, APlaceholderIsItsObjectAndNothingElse) {
  constexpr int kMany = 1000;
  for (const Dims& shape : {Dims{}, Dims{1 << 20, 1 << 20}}) {
    const Cost cost = cost_of([&] {
      TensorList made;
      made.reserve(kMany);
      for (int i = 0; i < kMany; ++i) made.push_back(placeholder(shape, kFloat, CPUPlace()));
      return made;
    });
    EXPECT_GT(cost.reserved, 0);
    EXPECT_LE(cost.reserved, kMany * kObjectBytes);
    EXPECT_LE(cost.requested, kMany * kTensorBytes);
    release_cached();
  }
}

TEST(Absence, ADeferredTensorIsItsObjectAndItsInitialiser) {
  const Dims shape{1 << 25, 1 << 25};
  for (const auto& make : std::vector<std::function<Tensor()>>{
           [&] { return deferred_gaussian(shape, 0, 1, 7); },
           [&] { return deferred_uniform(shape, 0, 1, 7); },
           [&] { return deferred_full(shape, 1.0); },
       }) {
    const Cost cost = cost_of(make);
    EXPECT_LE(cost.reserved, kObjectBytes);
    EXPECT_LE(cost.requested, kTensorBytes + kSourceBytes);
  }
}

TEST(Absence, AHostArrayThatIsTakenIsNotCopied) {
  std::vector<float> values(1 << 20, 1.0f);
  const Cost cost = cost_of([&] { return Tensor::from(std::move(values), {1 << 20}); });
  EXPECT_LE(cost.reserved, kObjectBytes);
  EXPECT_LE(cost.requested, kTensorBytes + kSourceBytes);
}

// Elementwise, matrix product, reduction, list, view, inplace, gradient.
TensorList calls(const Tensor& x, const Tensor& w) {
  Tensor y = add(gelu(matmul(x, w)), x);
  relu_(y);
  const Tensor joined = concat({y, x}, 0);
  return {y, joined, reshape(y, {y.shape().numel()}), sum(joined)};
}
constexpr int kCalls = 8;  // operators in it, and lists

TEST(Absence, AClippedCallMakesNothingElseThanPlaceholders) {
  on_counted_ranks(4, [](CountedWorld& world) {
    const ProcessMesh mesh({2}, {"tp"}, {0, 1});
    const Tensor x = shard_tensor(deferred_full({512, 512}, 1.0), mesh, {Shard(0)});
    const Tensor w = shard_tensor(deferred_full({512, 512}, 1.0), mesh, {Replicate()});
    for (const bool first : {true, false}) {  // decisions are made, then found
      const MessageCounts before = world.message_counts();
      const Cost cost = cost_of([&] { return calls(x, w); });
      if (world.rank() < 2) continue;
      EXPECT_EQ(world.message_counts() - before, MessageCounts{});
      EXPECT_LE(cost.reserved, kCalls * kObjectBytes);
      EXPECT_TRUE(first || cost.requested <= kCalls * kTensorBytes) << cost.requested;
    }
  });
}

TEST(Absence, OutsideItsMeshADeferredTensorStaysWhereItIs) {
  on_counted_ranks(2, [](CountedWorld& world) {
    const ProcessMesh mesh({1}, {"x"}, {0});
    const Tensor x = deferred_gaussian({1024, 1024}, 0, 1, 7);
    for (const bool first : {true, false}) {
      const Cost cost = cost_of([&] { return shard_tensor(x, mesh, {Shard(0)}); });
      if (world.rank() == 0) continue;
      EXPECT_LE(cost.reserved, kObjectBytes);
      EXPECT_TRUE(first || cost.requested <= kTensorBytes) << cost.requested;
    }
  });
}

TEST(Absence, ACallInADryRunMakesAnObject) {
  DryWorld world(0, 1);
  const World::Scope scope(world);
  const Tensor x = placeholder({1 << 20, 1 << 20}, kFloat, CPUPlace());
  relu(x);
  release_cached();
  const Cost cost = cost_of([&] { return relu(x); });
  EXPECT_LE(cost.reserved, kObjectBytes);
  EXPECT_LE(cost.requested, kTensorBytes);
}

// In a dry run: what a rank of this many asks the system for.
int64_t dry_cost(const Dims& shape, int64_t ranks) {
  DryWorld world(0, ranks);
  const World::Scope scope(world);
  const ProcessMesh mesh({ranks / 2, 2}, {"dp", "tp"});
  const std::vector<Placement> rows = {Replicate(), Shard(0)};
  const std::vector<Placement> columns = {Replicate(), Shard(1)};
  Cost cost;
  for (int i = 0; i < 2; ++i) {  // caches are filled, then used
    cost = cost_of([&] {
      Tensor x = distributed::placeholder(shape, kFloat, mesh, rows);
      Tensor w = shard_tensor(deferred_gaussian({shape[1], shape[1]}, 0, 1, 3), mesh, {});
      w.set_requires_grad();
      TensorList out = calls(x, w);
      out.push_back(reshard(out[0], mesh, columns));
      out.push_back(reshard(sum(matmul(x, w)), mesh, {}));
      out.push_back(grad({out.back()}, {w})[0]);
      return out;
    });
  }
  EXPECT_EQ(memory_stats(CPUPlace()).peak, 0);
  return cost.requested;
}

TEST(Absence, ADryRunCostsTheSameWhateverTheSizes) {
  const int64_t small = dry_cost({8, 16}, 2);
  EXPECT_GT(small, 0);
  EXPECT_LE(dry_cost({1 << 14, 1 << 15}, 2), small + 64);
  EXPECT_LE(small, 64 << 10);
  EXPECT_LE(dry_cost({1 << 14, 1 << 15}, 1 << 14), 2 * small);
}

int64_t capture_cost(const Dims& shape) {
  const Tensor x = placeholder(shape, kFloat, CPUPlace());
  Tensor w = placeholder({shape[1], shape[1]}, kFloat, CPUPlace());
  w.set_requires_grad();
  Cost cost;
  for (int i = 0; i < 2; ++i) {
    cost = cost_of([&] {
      return capture(
          [&](const TensorList& in) {
            TensorList out = calls(in[0], w);
            out.push_back(grad({mean(square(matmul(in[0], w)))}, {w})[0]);
            return out;
          },
          {x});
    });
  }
  return cost.requested;
}

TEST(Absence, ACaptureCostsTheSameWhateverTheSizes) {
  const int64_t small = capture_cost({8, 16});
  EXPECT_GT(small, 0);
  // Larger extents are longer words in the list of calls that a trace of its runs shows.
  EXPECT_LE(capture_cost({1 << 14, 1 << 15}), small + 1024);
}

TEST(Absence, ARunOfAProgramAllocatesItsOutputs) {
  constexpr int64_t kOutputBytes = int64_t{256} * 256 * 4;
  Tensor w = full({256, 256}, 0.01f);
  const Tensor x = full({256, 256}, 0.5f);
  const Program program = capture(
      [&](const TensorList& in) { return TensorList{relu(add(gelu(add(in[0], w)), w))}; }, {x});
  std::vector<TensorList> outputs(3);  // kept, so that no run has the output of the one before
  Cost cost;
  for (TensorList& output : outputs) {
    cost = cost_of([&] { return output = program.run({x}); });
  }
  EXPECT_GE(cost.requested, kOutputBytes);
  EXPECT_LE(cost.requested, kOutputBytes + kOutputBytes / 8 + 4 * kTensorBytes);
}

TEST(Absence, ParametersByIdAreHandles) {
  const Tensor w = full({1024, 1024}, 0.5f);
  const Program program =
      capture([&](const TensorList& in) { return TensorList{matmul(in[0], w)}; },
              {placeholder({4, 1024}, kFloat, CPUPlace())});
  const Cost cost = cost_of([&] { return program.device_parameter_id_tensor_mapping(); });
  EXPECT_EQ(cost.reserved, 0);
  EXPECT_LE(cost.requested, kTensorBytes);
}

TEST(Absence, ViewsAndEqualPlacementsShareBytes) {
  on_counted_ranks(2, [](CountedWorld& world) {
    const ProcessMesh mesh({2}, {"x"});
    const Tensor x = shard_tensor(deferred_full({512, 512}, 1.0), mesh, {Shard(0)});
    for (const bool first : {true, false}) {
      const MessageCounts before = world.message_counts();
      const Cost cost = cost_of([&] {
        return TensorList{reshape(x, {512 * 512}), reshard(x, mesh, {Shard(0)}), x.detach()};
      });
      EXPECT_EQ(world.message_counts() - before, MessageCounts{});
      EXPECT_LE(cost.reserved, 3 * kObjectBytes);
      EXPECT_TRUE(first || cost.requested <= 3 * kTensorBytes) << cost.requested;
    }
  });
}

// The second call finds the decision of the first.
TEST(Absence, ACallThatWasDecidedAllocatesItsOutput) {
  on_counted_ranks(2, [](CountedWorld&) {
    const ProcessMesh mesh({2}, {"x"});
    const Tensor x = shard_tensor(deferred_full({512, 512}, 1.0), mesh, {Shard(0)});
    constexpr int64_t kOutputBytes = int64_t{256} * 512 * 4;
    relu(x);
    release_cached();
    const Cost cost = cost_of([&] { return relu(x); });
    EXPECT_GE(cost.requested, kOutputBytes);
    EXPECT_LE(cost.requested, kOutputBytes + kOutputBytes / 8 + kTensorBytes);
  });
}

TEST(Absence, AMeshOfAnySizeCostsTheSame) {
  const Cost small = cost_of([] { return ProcessMesh({2, 5}, {"dp", "tp"}); });
  const Cost large = cost_of([] { return ProcessMesh({1 << 14, 7}, {"dp", "tp"}); });
  EXPECT_LE(large.requested, small.requested + 64);
}

}  // namespace
}  // namespace phi
