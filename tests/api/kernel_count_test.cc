// What ranks count is what happens: each operator that counts as launched is a kernel that runs (or
// a view), each byte that counts as sent is handed to the transport; and where nothing is computed,
// outside a mesh, in a dry run and in a capture, no kernel runs and no message leaves.
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/slice.h"
#include "api/generated/ops/square.h"
#include "api/tensor/placeholder.h"
#include "distributed/comm/dry/dry_world.h"
#include "phi/core/observer_scope.h"
#include "phi/core/op_def.h"
#include "phi/core/trace/trace.h"
#include "phi/tensor_api.h"
#include "support/counted_world.h"
#include "support/kernel_hook.h"
#include "tests/api/op_records.h"

DEFINE_uint32(seed, 1, "seed of the drawn placements");

namespace phi {
namespace {

using distributed::DryWorld;
using distributed::ProcessMesh;
using distributed::World;
using distributed::testing::CountedWorld;
using distributed::testing::MessageCounts;
using distributed::testing::on_counted_ranks;
using phi::testing::Choice;
using phi::testing::KernelHook;
using phi::testing::ParityCase;

std::vector<ParityCase> every_case() {
  return phi::testing::cases_of_records(
      {"attention", "binary", "data_dependent", "decode_attention", "elementwise", "lookup", "loss",
       "matmul", "normalisation", "optimizer", "random/dropout", "reduction", "shape", "unary"});
}

Counters& counters() { return RankContext::current().counters(); }

// From its construction on, of the calling rank.
class Deeds {
 public:
  int64_t kernels() const { return KernelHook::runs_here() - kernels_; }
  int64_t launched() const { return counters().ops_launched - launched_; }
  /// Operators that count as launched and have no kernel: their output shares their input's bytes.
  int64_t views() const {
    static const std::set<std::string> names = {"reshape", "squeeze", "unsqueeze"};
    int64_t views = 0;
    for (size_t i = 0; i < trace_.size(); ++i) {
      if (trace_[i].kind == TraceKind::kOp) views += names.contains(trace_[i].name);
    }
    return views;
  }

 private:
  Trace trace_;
  ObserverScope scope_{trace_};
  int64_t kernels_ = KernelHook::runs_here();
  int64_t launched_ = counters().ops_launched;
};

// As views do: of a part that lies in one piece the bytes are shared.
TEST(KernelCount, WhatIsLentCountsAsLaunchedAndRunsNoKernel) {
  const KernelHook hook;
  const Tensor x = square(full({8, 1024}, 2.0f));
  const Deeds deeds;
  const Tensor rows = slice(x, {0}, {2}, {6});
  EXPECT_EQ(deeds.launched(), 1);
  EXPECT_EQ(deeds.kernels(), 0);
  const Tensor columns = slice(x, {1}, {0}, {512});
  EXPECT_EQ(deeds.launched(), 2);
  EXPECT_EQ(deeds.kernels(), 1);
}

std::vector<Tensor> sharded(const ParityCase& test, const ProcessMesh& mesh, const Choice& choice) {
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    inputs.push_back(distributed::shard_tensor(test.inputs[i], mesh, choice[i]));
  }
  return inputs;
}

void check_rank(const ParityCase& test, const std::vector<Tensor>& inputs, bool computes,
                CountedWorld& world) {
  const Deeds deeds;
  const MessageCounts before = world.message_counts();
  const std::vector<Tensor> outputs = test.call(inputs);
  EXPECT_EQ(deeds.kernels(), deeds.launched() - deeds.views());
  const MessageCounts message_counts = world.message_counts() - before;
  if (computes) {
    EXPECT_GT(deeds.launched(), 0);
    return;
  }
  EXPECT_EQ(deeds.kernels(), 0);
  // Ops whose shapes depend on data make them known to everybody.
  constexpr int64_t kControlBytes = 512;
  EXPECT_LE(message_counts.bytes_sent + message_counts.bytes_received, kControlBytes);
  const auto& ops = {"nonzero", "masked_select", "unique"};
  const bool depends_on_data = std::ranges::any_of(
      ops, [&](const char* name) { return test.name.find(name) != std::string::npos; });
  if (!depends_on_data) {
    EXPECT_EQ(message_counts, MessageCounts{});
  }
}

TEST(KernelCount, EqualsKernelsThatRun_AndNoneRunsOutsideTheMesh) {
  const KernelHook hook;
  std::mt19937 rng(FLAGS_seed);
  const ProcessMesh mesh({2, 2}, {"x", "y"}, {0, 1, 3, 4});
  constexpr size_t kChoices = 8;
  for (const ParityCase& test : every_case()) {
    const auto drawn =
        phi::testing::placement_choices(test.inputs, 2, /*partial=*/true, kChoices, rng);
    on_counted_ranks(5, [&](CountedWorld& world) {
      for (const Choice& choice : drawn) {
        SCOPED_TRACE(test.name + " " + phi::testing::to_string(choice) + " at rank " +
                     std::to_string(world.rank()) + " --seed=" + std::to_string(FLAGS_seed));
        check_rank(test, sharded(test, mesh, choice), world.rank() != 2, world);
      }
    });
  }
}

TEST(KernelCount, OnPlainTensorsToo) {
  const KernelHook hook;
  for (const ParityCase& test : every_case()) {
    SCOPED_TRACE(test.name);
    const Deeds deeds;
    test.call(test.inputs);
    EXPECT_EQ(deeds.kernels(), deeds.launched() - deeds.views());
    EXPECT_GT(deeds.launched(), 0);
  }
}

TEST(DryRun, RunsNoKernel) {
  const KernelHook hook;
  const ProcessMesh mesh({2}, {"x"});
  int64_t launched = 0;
  for (const ParityCase& test : every_case()) {
    SCOPED_TRACE(test.name);
    DryWorld dry(1, 2);
    CountedWorld world(dry);
    const World::Scope scope(world);
    std::vector<Tensor> inputs;
    for (const Tensor& x : test.inputs) {
      inputs.push_back(distributed::placeholder(x.shape(), x.dtype(), mesh, {}));
    }
    const Deeds deeds;
    try {
      test.call(inputs);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kUnimplemented) << error.what();
    }
    EXPECT_EQ(deeds.kernels(), 0);
    EXPECT_EQ(world.message_counts().bytes_sent, counters().bytes_sent);
    launched += deeds.launched();
  }
  EXPECT_GT(launched, 50);
}

using Traffics = decltype(Counters::traffic);

Traffics traffic_of(const ParityCase& test, const std::vector<Tensor>& inputs) {
  const Traffics before = counters().traffic;
  test.call(inputs);
  Traffics traffic = counters().traffic;
  for (size_t i = 0; i < traffic.size(); ++i) {
    traffic[i].messages -= before[i].messages;
    traffic[i].bytes -= before[i].bytes;
  }
  return traffic;
}

// The traffic of rank 1 of 2 in a dry run; nothing where shapes depend on data.
std::optional<Traffics> dry_traffic(const ParityCase& test, const ProcessMesh& mesh,
                                    const Choice& choice) {
  DryWorld dry(1, 2);
  const World::Scope scope(dry);
  std::vector<Tensor> inputs;
  for (size_t i = 0; i < test.inputs.size(); ++i) {
    const Tensor& x = test.inputs[i];
    inputs.push_back(distributed::placeholder(x.shape(), x.dtype(), mesh, choice[i]));
  }
  try {
    return traffic_of(test, inputs);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), ErrorCode::kUnimplemented) << error.what();
    return std::nullopt;
  }
}

// Those of kernels that ask other ranks among them.
TEST(DryRun, CountsTheMessagesOfARun) {
  std::mt19937 rng(FLAGS_seed);
  const ProcessMesh mesh({2}, {"x"});
  std::vector<ParityCase> cases;
  for (const phi::testing::OpTable& table : phi::testing::op_tables()) {
    for (ParityCase& test : table.cases()) cases.push_back(std::move(test));
  }
  constexpr size_t kChoices = 4;
  int64_t asked = 0;
  for (const ParityCase& test : cases) {
    const auto drawn =
        phi::testing::placement_choices(test.inputs, 1, /*partial=*/true, kChoices, rng);
    for (const Choice& choice : drawn) {
      SCOPED_TRACE(test.name + " " + phi::testing::to_string(choice) +
                   " --seed=" + std::to_string(FLAGS_seed));
      const std::optional<Traffics> planned = dry_traffic(test, mesh, choice);
      if (!planned) continue;
      on_counted_ranks(2, [&](CountedWorld& world) {
        const Traffics real = traffic_of(test, sharded(test, mesh, choice));
        if (world.rank() != 1) return;
        for (size_t i = 0; i < real.size(); ++i) {
          const auto op = distributed::name_of(static_cast<distributed::CommOp>(i));
          EXPECT_EQ((*planned)[i].messages, real[i].messages) << op;
          EXPECT_EQ((*planned)[i].bytes, real[i].bytes) << op;
        }
        asked += real[static_cast<size_t>(distributed::CommOp::kAllReduce)].messages;
      });
    }
  }
  EXPECT_GT(asked, 20);
}

// Two layers on two stages, forward, backward and update.
struct TwoStages {
  ProcessMesh first{{2}, {"tp"}, {0, 1}};
  ProcessMesh second{{2}, {"tp"}, {2, 3}};
  Tensor up = weight({16, 32}, first, 1);
  Tensor down = weight({32, 8}, second, 0);

  static Tensor weight(const Dims& shape, const ProcessMesh& mesh, int dim) {
    Tensor w = distributed::shard_tensor(deferred_gaussian(shape, 0, 1, 1), mesh,
                                         {distributed::Shard(dim)});
    w.set_requires_grad();
    return w;
  }
  TensorList step(const TensorList& in) const {
    const Tensor h = gelu(matmul(in[0], up));
    const Tensor there = distributed::reshard(h, second, {distributed::Replicate()});
    const Tensor loss = mean(square(matmul(there, down)));
    TensorList out = grad({loss}, {up, down});
    out.push_back(loss.detach());
    return out;
  }
  Tensor input() const {
    return distributed::shard_tensor(deferred_gaussian({4, 16}, 0, 1, 3), first, {});
  }
};

TEST(KernelCount, OfATrainingStepOverTwoStages) {
  const KernelHook hook;
  on_counted_ranks(4, [](CountedWorld& world) {
    const TwoStages stages;
    const Tensor x = stages.input();
    const Deeds deeds;
    stages.step({x});
    EXPECT_EQ(deeds.kernels(), deeds.launched() - deeds.views());
    EXPECT_GT(deeds.kernels(), 0);
    EXPECT_GT(world.message_counts().bytes_sent + world.message_counts().bytes_received, 0);
  });
}

TEST(Capture, RunsNoKernelAndSendsNothing) {
  const KernelHook hook;
  on_counted_ranks(4, [](CountedWorld& world) {
    const TwoStages stages;
    const Tensor x = stages.input();
    int64_t kernels = 0;
    int64_t launched = 0;
    {
      const Deeds eager;
      stages.step({x});
      kernels = eager.kernels();
      launched = eager.launched();
    }
    const MessageCounts before = world.message_counts();
    const Deeds deeds;
    const Program program = capture([&](const TensorList& in) { return stages.step(in); }, {x});
    program.to_string();
    program.arena_bytes();
    EXPECT_EQ(program.device_parameter_id_tensor_mapping().size(), 2u);
    EXPECT_EQ(deeds.kernels(), 0);
    EXPECT_EQ(world.message_counts() - before, MessageCounts{});
    const Deeds replayed;
    program.run({x});
    EXPECT_EQ(replayed.kernels(), kernels);
    EXPECT_EQ(replayed.launched(), launched);
  });
}

}  // namespace
}  // namespace phi

int main(int argc, char** argv) {
  ::testing::InitGoogleTest(&argc, argv);
  gflags::ParseCommandLineFlags(&argc, &argv, true);
  return RUN_ALL_TESTS();
}
