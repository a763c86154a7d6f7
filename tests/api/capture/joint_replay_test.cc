// Captured programs of several ranks whose GPUs, the emulator's, NCCL connects: steps with messages
// are launched within graphs, alike on all ranks, and give the same bits as step by step.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <thread>

#include "api/capture/program.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/all_reduce.h"
#include "api/generated/ops/check_numerics.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/greater_than.h"
#include "api/generated/ops/index_put.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/tanh.h"
#include "capture_support.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/tensor_api.h"
#include "support/assign_gpu.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "support/cuda_on_cpu/nccl_on_cpu.h"
#include "support/error_matchers.h"

namespace phi {
namespace {

using distributed::PendingTensor;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using ::testing::AllOf;
using ::testing::HasSubstr;
using testing::weights;
using Function = std::function<Tensor(const Tensor&)>;

constexpr int kRuns = 6;
// The first run goes step by step, in the second each rank tries what it can write down.
constexpr uint64_t kLaunchedRuns = kRuns - 2;

// The part that is here.
std::vector<float> values_of(const Tensor& x) {
  const DenseTensor& local = x.is_dist() ? x.dist().local() : x.dense();
  return local.initialized() ? Tensor(local).to_vector<float>() : std::vector<float>();
}

void on_gpus(int64_t n, const std::function<void(World& world)>& body,
             std::chrono::milliseconds deadline = std::chrono::seconds(30)) {
  distributed::run_ranks(
      n,
      [&](World& world) {
        distributed::testing::assign_gpu(world, static_cast<int>(n));
        body(world);
      },
      deadline);
}

/// What a program of one rank is: its function, made by the rank, and its input.
struct Model {
  Function f;
  Tensor x;
};
using MakeModel = std::function<Model()>;

struct Outcome {
  std::vector<std::vector<std::vector<float>>> values;  // by rank and run
  std::vector<Counters> counters;                       // by rank, of all runs
  uint64_t graphs = 0;                                  // of all ranks
};

Outcome outcome_of(int64_t ranks, const MakeModel& make, bool graphs) {
  Outcome outcome;
  outcome.values.resize(static_cast<size_t>(ranks));
  outcome.counters.resize(static_cast<size_t>(ranks));
  const uint64_t before = cuda_on_cpu::graph_launches();
  on_gpus(ranks, [&](World& world) {
    const Model model = make();
    const Program program =
        capture([&](const TensorList& in) { return TensorList{model.f(in[0])}; }, {model.x});
    program.use_graphs(graphs);
    world.rank_context().counters() = {};
    TensorList results;
    for (int run = 0; run < kRuns; ++run) {
      results.push_back(program.run({scale(model.x, 1.0 + run)})[0]);
    }
    const auto rank = static_cast<size_t>(world.rank());
    outcome.counters[rank] = world.rank_context().counters();
    for (const Tensor& y : results) outcome.values[rank].push_back(values_of(y));
  });
  outcome.graphs = cuda_on_cpu::graph_launches() - before;
  return outcome;
}

class JointReplay : public ::testing::Test {
 protected:
  void TearDown() override { cuda_on_cpu::reset(); }

  /// With graphs the bits and the traffic are those without, in orders of streams that CUDA leaves
  /// open; `launched` graphs are, by all ranks and runs together.
  static void expect_same(int64_t ranks, uint64_t launched, const MakeModel& make) {
    using cuda_on_cpu::Order;
    const std::pair<Order, uint64_t> orders[] = {{Order::kForward, 0},
                                                 {Order::kBackward, 0},
                                                 {Order::kDrawn, 1},
                                                 {Order::kDrawn, 2},
                                                 {Order::kDrawn, 3}};
    for (const auto& [order, seed] : orders) {
      SCOPED_TRACE(::testing::Message() << "order " << static_cast<int>(order) << ", " << seed);
      cuda_on_cpu::set_order(order, seed);
      const Outcome by_step = outcome_of(ranks, make, false);
      const Outcome by_graph = outcome_of(ranks, make, true);
      EXPECT_EQ(by_step.graphs, 0u);
      EXPECT_EQ(by_graph.graphs, launched);
      EXPECT_EQ(by_graph.values, by_step.values);
      for (size_t rank = 0; rank < static_cast<size_t>(ranks); ++rank) {
        const Counters& got = by_graph.counters[rank];
        const Counters& expected = by_step.counters[rank];
        EXPECT_EQ(got.bytes_sent, expected.bytes_sent) << rank;
        EXPECT_EQ(got.bytes_received, expected.bytes_received) << rank;
        EXPECT_EQ(got.reshard_steps, expected.reshard_steps) << rank;
        EXPECT_EQ(got.ops_launched, expected.ops_launched) << rank;
      }
    }
  }
};

// Two layers split over ranks: sums of parts, gathers, boxes of columns.
Model split_layers() {
  const ProcessMesh mesh({2}, {"tp"});
  const Tensor up = shard_tensor(weights({16, 32}, 1), mesh, {Shard(1)});
  const Tensor down = shard_tensor(weights({32, 8}, 2), mesh, {Shard(0)});
  const auto f = [=](const Tensor& x) {
    const Tensor h = distributed::reshard(matmul(gelu(matmul(x, up)), down), mesh, {Replicate()});
    const Tensor columns = distributed::reshard(tanh(h), mesh, {Shard(1)});
    return scale(distributed::reshard(gelu(columns), mesh, {Shard(0)}), 0.5);
  };
  return {f, shard_tensor(weights({6, 16}, 3), mesh, {Replicate()})};
}

TEST_F(JointReplay, LayersSplitOverRanksAreOneGraph) {
  expect_same(2, 2 * kLaunchedRuns, split_layers);
}

// Kernels that ask other ranks, and gradients that are summed.
TEST_F(JointReplay, KernelsWithMessagesAreInIt) {
  expect_same(3, 3 * kLaunchedRuns, [] {
    const ProcessMesh mesh({3}, {"tp"});
    const Tensor head = shard_tensor(weights({8, 10}, 1), mesh, {Shard(1)});
    const Tensor labels =
        shard_tensor(Tensor::from<int64_t>({0, 9, 4, 2}, {4, 1}), mesh, {Replicate()});
    const auto f = [=](const Tensor& x) {
      const Tensor scores = matmul(tanh(x), head);
      return mean(std::get<1>(cross_entropy_with_softmax(scores, labels)), {}, false);
    };
    return Model{f, shard_tensor(weights({4, 8}, 3), mesh, {Replicate()})};
  });
}

// Two stages of two ranks each, with messages under way while the first computes on.
Model two_stages() {
  const ProcessMesh first({2}, {"dp"}, {0, 1});
  const ProcessMesh second({2}, {"dp"}, {2, 3});
  const Tensor a = shard_tensor(weights({8, 8}, 1), first, {Replicate()});
  const Tensor b = shard_tensor(weights({8, 8}, 2), second, {Replicate()});
  const auto f = [=](const Tensor& x) {
    const Tensor h = gelu(matmul(x, a));
    PendingTensor there = start_reshard(h, second, {Shard(1)});
    const Tensor more = tanh(matmul(h, a));
    PendingTensor there_too = start_reshard(more, second, {Shard(0)});
    const Tensor y = distributed::reshard(tanh(there.wait()), second, {Shard(0)});
    const Tensor z = add(matmul(y, b), there_too.wait());
    return distributed::reshard(gelu(z), first, {Replicate()});
  };
  return {f, shard_tensor(weights({4, 8}, 3), first, {Shard(0)})};
}

TEST_F(JointReplay, StagesOfAPipeline) { expect_same(4, 4 * kLaunchedRuns, two_stages); }

// A rank outside of the program's meshes runs it without a word.
TEST_F(JointReplay, RanksOutsideAreNotAsked) {
  expect_same(3, 2 * kLaunchedRuns, [] {
    const ProcessMesh mesh({2}, {"dp"});
    const auto f = [=](const Tensor& x) {
      return distributed::reshard(gelu(scale(tanh(x), 2.0)), mesh, {Shard(1)});
    };
    return Model{f, shard_tensor(weights({4, 6}, 3), mesh, {Shard(0)})};
  });
}

// Counts a mask on the host.
Tensor with_wait(const Tensor& x, const Tensor& value) {
  return index_put(x, {greater_than(x, scale(x, 0.0))}, value);
}

TEST_F(JointReplay, AStepThatWaitsIsBetweenGraphs) {
  expect_same(2, 2 * 2 * kLaunchedRuns - 2 * 2, [] {
    const ProcessMesh mesh({2}, {"dp"});
    const Tensor value = shard_tensor(full({1}, 9.0f), mesh, {Replicate()});
    const auto f = [=](const Tensor& x) {
      const Tensor y = distributed::reshard(tanh(x), mesh, {Replicate()});
      const Tensor z = scale(with_wait(gelu(scale(y, 2.0)), value), 3.0);
      return distributed::reshard(tanh(gelu(z)), mesh, {Shard(1)});
    };
    return Model{f, shard_tensor(weights({4, 6}, 3), mesh, {Shard(0)})};
  });
}

TEST_F(JointReplay, OneRankThatWillNotIsHeardByAll) {
  on_gpus(2, [](World& world) {
    const Model model = split_layers();
    const Program program =
        capture([&](const TensorList& in) { return TensorList{model.f(in[0])}; }, {model.x});
    std::vector<std::vector<float>> results;
    std::vector<uint64_t> launched;
    for (int run = 0; run < 9; ++run) {
      program.use_graphs(world.rank() == 0 || run < 3 || run > 5);
      world.everyone().barrier();
      const uint64_t before = cuda_on_cpu::graph_launches();
      results.push_back(values_of(program.run({model.x})[0]));
      world.everyone().barrier();
      launched.push_back(cuda_on_cpu::graph_launches() - before);
    }
    for (const auto& values : results) EXPECT_EQ(values, results[0]);
    EXPECT_THAT(launched, ::testing::ElementsAre(0, 0, 2, 0, 0, 0, 2, 2, 2));
  });
}

// What one rank writes down anew all do.
TEST_F(JointReplay, AParameterReplacedOnOneRank) {
  on_gpus(2, [](World& world) {
    const ProcessMesh mesh({2}, {"dp"});
    Tensor w = shard_tensor(weights({6, 6}, 1), mesh, {Replicate()});
    const auto f = [&](const TensorList& in) {
      return TensorList{distributed::reshard(tanh(matmul(in[0], w)), mesh, {Replicate()})};
    };
    const Tensor x = shard_tensor(weights({4, 6}, 3), mesh, {Shard(0)});
    const Program program = capture(f, {x});
    const std::vector<float> expected = values_of(f({x})[0]);
    for (int run = 0; run < 12; ++run) {
      if (world.rank() == 1 && run >= 4)
        w.replace(shard_tensor(weights({6, 6}, 1), mesh, {Replicate()}));
      EXPECT_EQ(values_of(program.run({x})[0]), expected) << run;
    }
  });
}

// Halves of a reshard with a step that waits in between: messages go by step, the rest by graph.
TEST_F(JointReplay, MessagesUnderWayBetweenGraphs) {
  on_gpus(2, [](World&) {
    const ProcessMesh first({1}, {"pp"}, {0});
    const ProcessMesh second({1}, {"pp"}, {1});
    const Tensor value = shard_tensor(full({1}, 9.0f), first, {Replicate()});
    const auto f = [&](const TensorList& in) {
      const Tensor h = gelu(scale(tanh(in[0]), 2.0));
      PendingTensor there = start_reshard(h, second, {Replicate()});
      const Tensor y = gelu(scale(tanh(with_wait(h, value)), 0.5));
      return TensorList{tanh(scale(gelu(there.wait()), 2.0)), y};
    };
    const Tensor x = shard_tensor(weights({4, 6}, 3), first, {Replicate()});
    const Program program = capture(f, {x});
    const TensorList expected = f({x});
    for (int run = 0; run < 8; ++run) {
      const TensorList out = program.run({x});
      for (size_t i = 0; i < 2; ++i) EXPECT_EQ(values_of(out[i]), values_of(expected[i])) << run;
    }
  });
}

// A kernel that asks other ranks and waits for the answer: messages go by step, the rest by graph.
TEST_F(JointReplay, AKernelThatWaitsForItsMessages) {
  expect_same(2, 2 * 2 * (kRuns - 2), [] {
    const ProcessMesh mesh({2}, {"dp"});
    const auto f = [=](const Tensor& x) {
      const Tensor y = tanh(scale(gelu(x), 2.0));
      const Tensor numbers = std::get<1>(check_numerics(y));  // an error, were there NaN
      return distributed::reshard(add(gelu(y), mean(numbers, {}, false)), mesh, {Replicate()});
    };
    return Model{f, shard_tensor(weights({4, 6}, 3), mesh, {Shard(0)})};
  });
}

// Of rings the program's values say nothing; plain tensors have nobody to agree with.
TEST_F(JointReplay, RingsAreCalledByStep) {
  expect_same(2, 2 * 2 * (kRuns - 1), [] {
    const auto f = [](const Tensor& x) {
      const Tensor sum = all_reduce(gelu(scale(tanh(x), 2.0)));
      return tanh(scale(gelu(sum), 0.5));
    };
    return Model{f, scale(weights({4, 6}, 3), 1.0 + static_cast<double>(World::current().rank()))};
  });
}

std::string message_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const std::exception& error) {
    return error.what();
  }
  return "no error";
}

TEST_F(JointReplay, ALateRankIsNamed) {
  const std::string message = message_of([] {
    on_gpus(
        2,
        [](World& world) {
          const Model model = split_layers();
          const Program program =
              capture([&](const TensorList& in) { return TensorList{model.f(in[0])}; }, {model.x});
          for (int run = 0; run < 5; ++run) {
            if (world.rank() == 1 && run == 4) {
              std::this_thread::sleep_for(std::chrono::milliseconds(1500));
              return;
            }
            values_of(program.run({model.x})[0]);
          }
        },
        std::chrono::milliseconds(500));
  });
  EXPECT_THAT(message,
              AllOf(HasSubstr("Timed out after 0.5 s in all_reduce"),
                    HasSubstr("from a run of a captured program"), HasSubstr("<- missing")));
}

// NCCL stands still within a graph: the watchdog ends it, graphs first.
TEST_F(JointReplay, AGraphThatStandsStillIsEnded) {
  const std::string message = message_of([] {
    on_gpus(
        2,
        [](World& world) {
          const Model model = split_layers();
          const Program program =
              capture([&](const TensorList& in) { return TensorList{model.f(in[0])}; }, {model.x});
          for (int run = 0; run < 6; ++run) {
            world.everyone().barrier();
            if (world.rank() == 1 && run == 4) cuda_on_cpu::stop_nccl_rank(1, 1);
            values_of(program.run({model.x})[0]);
          }
        },
        std::chrono::milliseconds(800));
  });
  EXPECT_THAT(message, AllOf(HasSubstr("Timed out after 0.8"),  // and some of a launch
                             HasSubstr("from steps of a captured program"),
                             HasSubstr("All ranks have entered it, but their GPUs have not")));
}

TEST_F(JointReplay, AProgramThatOutlivesTheConnectionSendsByStep) {
  on_gpus(2, [](World& world) {
    const Model model = split_layers();
    const Program program =
        capture([&](const TensorList& in) { return TensorList{model.f(in[0])}; }, {model.x});
    std::vector<float> expected;
    for (int run = 0; run < 4; ++run) expected = values_of(program.run({model.x})[0]);
    world.everyone().barrier();
    world.set_device_communicator(nullptr);
    distributed::testing::assign_gpu(world, 2);
    for (int run = 0; run < 3; ++run) EXPECT_EQ(values_of(program.run({model.x})[0]), expected);
  });
}

}  // namespace
}  // namespace phi
