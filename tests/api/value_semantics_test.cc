// What moves give is a value of its own on every rank, however little had to move; a view is a view
// on every placement, or cannot be written to.
#include <gmock/gmock.h>

#include <functional>
#include <random>
#include <string>
#include <vector>

#include "api/capture/program.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/fill.h"
#include "api/generated/ops/flatten.h"
#include "api/generated/ops/reshape.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/share_data.h"
#include "api/generated/ops/squeeze.h"
#include "api/generated/ops/sum.h"
#include "api/generated/ops/unsqueeze.h"
#include "api/generated/ops/view_shape.h"
#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "phi/core/storage/host_source.h"
#include "phi/tensor_api.h"
#include "tests/support/error_matchers.h"
#include "tests/support/rank_launcher.h"

namespace phi {
namespace {

using distributed::gathered_everywhere;
using distributed::Partial;
using distributed::PendingTensor;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::reshard;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::start_reshard;
using distributed::testing::on_ranks;

struct Where {
  ProcessMesh mesh;
  std::vector<Placement> placements;
};

// The extents of tensors whose bytes lie behind their storages, and of others.
const std::vector<Dims> kShapes = {{4, 6}, {64, 60}};

// On the first three of four ranks, on some of them, and along two mesh dims.
std::vector<Where> layouts() {
  const ProcessMesh all({3}, {"x"}), pair({2}, {"x"}, {0, 2}), one({1}, {"x"}, {0});
  const ProcessMesh grid({1, 3}, {"a", "b"}), turned({3}, {"x"}, {2, 0, 1});
  std::vector<Where> out;
  for (const ProcessMesh& mesh : {all, pair, one, turned}) {
    for (const Placement& p : {Placement(Replicate()), Placement(Shard(0)), Placement(Shard(1)),
                               Placement(Partial()), Placement(Partial(ReduceKind::kMax))}) {
      out.push_back({mesh, {p}});
    }
  }
  out.push_back({grid, {Partial(), Shard(0)}});
  out.push_back({grid, {Replicate(), Shard(0)}});
  out.push_back({grid, {Shard(1), Replicate()}});
  return out;
}

Tensor counting(const Dims& shape) {
  std::vector<float> values(static_cast<size_t>(shape.numel()));
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<float>(i + 1);
  return Tensor::from<float>(values, shape);
}

// Of this rank's part.
std::vector<float> part_of(const Tensor& x) {
  const DenseTensor& array = array_of(x);
  const bool has_value = array.initialized() || array.storage()->source();
  return has_value ? Tensor(array).to_vector<float>() : std::vector<float>();
}

void overwrite(Tensor x) { fill_(x, -7.0); }

// `move` of x gives y; whoever is written to, the other stays.
void check_apart(const std::string& what, const Tensor& x,
                 const std::function<Tensor(const Tensor&)>& move) {
  SCOPED_TRACE(what + " on rank " + std::to_string(distributed::rank()));
  const Tensor y = move(x);
  ASSERT_NE(array_of(x).storage(), array_of(y).storage());
  const auto before = part_of(x), moved = part_of(y);
  overwrite(y);
  EXPECT_EQ(part_of(x), before) << "the result was written to";
  const Tensor z = move(x);
  overwrite(x);
  EXPECT_EQ(part_of(z), moved) << "the source was written to";
}

TEST(MovesGiveValues, WhateverIsWrittenTo) {
  on_ranks(4, [](distributed::World&) {
    for (const Dims& shape : kShapes) {
      for (const Where& from : layouts()) {
        for (const Where& to : layouts()) {
          const auto source = [&] {
            return shard_tensor(counting(shape), from.mesh, from.placements);
          };
          Tensor x = source();
          const Tensor y = reshard(x, to.mesh, to.placements);
          if (x.dist_attr() == y.dist_attr()) {
            EXPECT_EQ(array_of(x).storage(), array_of(y).storage()) << "it is x itself";
            continue;
          }
          const std::string what = x.to_string() + " to " + y.to_string();
          check_apart("reshard " + what, source(),
                      [&](const Tensor& of) { return reshard(of, to.mesh, to.placements); });
          check_apart("start_reshard " + what, source(), [&](const Tensor& of) {
            return start_reshard(of, to.mesh, to.placements).wait();
          });
        }
      }
    }
  });
}

TEST(MovesGiveValues, OfPlainTensorsAndAsPlainTensors) {
  on_ranks(4, [](distributed::World&) {
    for (const Dims& shape : kShapes) {
      for (const Where& where : layouts()) {
        Tensor plain = counting(shape);
        plain.dense().raw_data();  // it is here
        check_apart("shard_tensor", plain, [&](const Tensor& of) {
          return shard_tensor(of, where.mesh, where.placements);
        });
        check_apart(
            "shard_tensor to the same placements",
            shard_tensor(counting(shape), where.mesh, where.placements),
            [&](const Tensor& of) { return shard_tensor(of, where.mesh, where.placements); });
        check_apart("gathered_everywhere",
                    shard_tensor(counting(shape), where.mesh, where.placements),
                    [](const Tensor& of) { return gathered_everywhere(of); });
      }
      const ProcessMesh everyone({4}, {"x"});
      check_apart("gathered_everywhere of copies",
                  shard_tensor(counting(shape), everyone, {Replicate()}),
                  [](const Tensor& of) { return gathered_everywhere(of); });
    }
  });
}

// A program with a memory limit swaps its parameters out, and each run writes to them.
TEST(MovesGiveValues, OfSwappedTensors) {
  on_ranks(2, [](distributed::World& world) {
    const Dims shape = kShapes[1];
    const auto swap_out = [&](const Tensor& x, float value) {
      std::vector<float> values(static_cast<size_t>(array_of(x).numel()), value);
      array_of(x).storage()->swap_out(HostSource::keep(std::move(values), array_of(x).dims()));
    };
    const ProcessMesh mesh({2}, {"x"});
    world.rank_context().set_keeps_deferred(true);
    for (const Placement& to : {Placement(Replicate()), Placement(Shard(0))}) {
      const Tensor plain = counting(shape);
      const Tensor sharded = shard_tensor(plain, mesh, {to});
      swap_out(plain, 1.0f);
      swap_out(sharded, 1.0f);
      const TensorList moved = {shard_tensor(plain, mesh, {to}), shard_tensor(sharded, mesh, {to}),
                                reshard(sharded, ProcessMesh({2, 1}, {"x", "y"}), {to}),
                                gathered_everywhere(sharded)};
      swap_out(plain, 2.0f);
      swap_out(sharded, 2.0f);
      for (const Tensor& y : moved) {
        EXPECT_THAT(part_of(y), ::testing::Each(1.0f)) << y.to_string();
      }
    }
  });
}

// The sender goes on, and writes, before the receiver has asked for anything.
TEST(MovesGiveValues, WhatIsUnderWayIsWhatItWasAtTheStart) {
  on_ranks(2, [](distributed::World&) {
    const ProcessMesh first({1}, {"x"}, {0}), second({1}, {"x"}, {1}), both({2}, {"x"});
    for (const Dims& shape : kShapes) {
      for (const ProcessMesh& to : {second, both}) {
        Tensor x = shard_tensor(counting(shape), first, {Replicate()});
        std::vector<PendingTensor> pending;
        for (int i = 0; i < 3; ++i) {
          pending.push_back(start_reshard(x, to, {Replicate()}));
          scale_(x, 2.0);
        }
        for (int i = 0; i < 3; ++i) {
          const auto values = part_of(pending[static_cast<size_t>(i)].wait());
          if (!values.empty()) {
            EXPECT_EQ(values[5], 6.0f * static_cast<float>(1 << i)) << "message " << i;
          }
        }
      }
    }
  });
}

// A program does what eager calls do, and copies where somebody writes alone.
TEST(MovesGiveValues, InCapturedPrograms) {
  on_ranks(3, [](distributed::World&) {
    std::mt19937 random(7);
    const auto all = layouts();
    for (int round = 0; round < 60; ++round) {
      const Where& from = all[random() % all.size()];
      const Where& to = all[random() % all.size()];
      const bool writes_x = random() % 2 != 0, writes_y = random() % 2 != 0;
      const Dims shape = kShapes[random() % kShapes.size()];
      const auto function = [&](const TensorList& inputs) {
        Tensor x = scale(inputs[0], 2.0);
        PendingTensor pending = start_reshard(x, to.mesh, to.placements);
        Tensor y = reshard(x, to.mesh, to.placements);
        if (writes_x) scale_(x, 3.0);
        Tensor z = pending.wait();
        Tensor same = shard_tensor(z, z.mesh(), z.placements());
        if (writes_y && x.dist_attr() != y.dist_attr()) scale_(y, 5.0);
        scale_(same, 7.0);
        return TensorList{scale(x, 1.0), scale(y, 1.0), scale(z, 1.0), y, same};
      };
      const Tensor input = shard_tensor(counting(shape), from.mesh, from.placements);
      const TensorList eager = function({input});
      const TensorList run = capture(function, {input}).run({input});
      for (size_t i = 0; i < eager.size(); ++i) {
        EXPECT_EQ(part_of(run[i]), part_of(eager[i]))
            << "output " << i << " of round " << round << ", " << eager[0].to_string() << " to "
            << eager[1].to_string();
      }
    }
  });
}

TEST(MovesGiveValues, ThatCostNothingWhereNobodyWrites) {
  on_ranks(1, [](distributed::World&) {
    const ProcessMesh one({1}, {"x"});
    const Tensor x = shard_tensor(counting({64, 60}), one, {Replicate()});
    const auto held = memory_stats(CPUPlace()).current;
    const Tensor y = reshard(x, one, {Partial()});
    EXPECT_EQ(memory_stats(CPUPlace()).current, held);
    EXPECT_EQ(array_of(y).raw_data(), array_of(x).raw_data());
    // Nor has what was sent to be copied once it has left.
    Tensor z = counting({64, 60});
    const void* const address = array_of(z).raw_data();
    { const DenseTensor sent = array_of(z).fixed(); }
    overwrite(z);
    EXPECT_EQ(array_of(z).raw_data(), address);
  });
}

// ---- views ----

struct View {
  const char* name;
  std::function<Tensor(const Tensor&)> of;
};

std::vector<View> views() {
  return {
      {"reshape",
       [](const Tensor& x) {
         return reshape(x, std::vector<int64_t>{6, 4});
       }},
      {"reshape", [](const Tensor& x) { return reshape(x, std::vector<int64_t>{24}); }},
      {"view_shape",
       [](const Tensor& x) {
         return view_shape(x, {3, 8});
       }},
      {"flatten", [](const Tensor& x) { return flatten(x, 0, 1); }},
      {"unsqueeze", [](const Tensor& x) { return unsqueeze(x, std::vector<int64_t>{1}); }},
      {"share_data", [](const Tensor& x) { return share_data(x); }},
  };
}

// Whether a write to the view is seen or refused does not depend on the rank.
TEST(Views, AreWrittenThroughOrNotAtAll) {
  on_ranks(4, [](distributed::World&) {
    int written = 0, refused = 0;
    bool written_here = false;
    for (const Where& where : layouts()) {
      for (const View& view : views()) {
        const Tensor x = shard_tensor(counting({4, 6}), where.mesh, where.placements);
        const auto before = part_of(x);
        const Tensor v = view.of(x);
        const Tensor w = reshape(v, std::vector<int64_t>{24});  // a view of it
        SCOPED_TRACE(std::string(view.name) + " of " + x.to_string() + " gives " + v.to_string());
        try {
          overwrite(v);
          ++written;
          EXPECT_EQ(part_of(x), part_of(v));
          written_here |= !part_of(x).empty() && part_of(x) != before;
        } catch (const Error& error) {
          ++refused;
          EXPECT_EQ(error.code(), ErrorCode::kPreconditionNotMet);
          EXPECT_THAT(error.what(),
                      ::testing::HasSubstr(std::string(view.name) + " computed from"));
          EXPECT_EQ(part_of(x), before);
          EXPECT_THROW(overwrite(w), Error);
          overwrite(scale(v, 1.0));
        }
      }
    }
    EXPECT_GT(written, 20);
    EXPECT_EQ(written_here, distributed::rank() < 3);
    EXPECT_GT(refused, 5);
    // Alike on all ranks: of max and min of the counts both are this rank's.
    const ProcessMesh everyone({4}, {"x"});
    const Tensor counts =
        distributed::from_local(Tensor::from<float>(std::vector{static_cast<float>(written)}, {1}),
                                {4}, everyone, std::vector<Placement>{Shard(0)});
    EXPECT_THAT(gathered_everywhere(counts).to_vector<float>(),
                ::testing::Each(static_cast<float>(written)));
  });
}

TEST(Views, OfTheIssue) {
  on_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"x"});
    const Tensor weight = shard_tensor(counting({4, 4}), mesh, {Shard(1)});
    Tensor flat = reshape(weight, std::vector<int64_t>{16});
    EXPECT_THAT(
        [&] { fill_(flat, 0.0); },
        ThrowsError(ErrorCode::kPreconditionNotMet,
                    "which reshape computed from a tensor whose placements do not allow a view"));
    EXPECT_EQ(sum(reshard(flat, mesh, {Replicate()})).item(), 136.0);
  });
}

// The receiver of a gradient may write to it.
TEST(Views, GradientsMadeByViewsAreWritable) {
  on_ranks(2, [](distributed::World&) {
    const ProcessMesh mesh({2}, {"x"});
    Tensor x = shard_tensor(counting({4, 4}), mesh, {Shard(1)});
    x.set_requires_grad();
    const Tensor flat = reshape(x, std::vector<int64_t>{16});
    sum(scale(flat, 2.0)).backward();
    Tensor grad = x.grad();
    scale_(grad, 0.5);
    EXPECT_THAT(part_of(grad), ::testing::Each(1.0f));
    sum(reshape(x, std::vector<int64_t>{2, 8})).backward();
    EXPECT_THAT(part_of(x.grad()), ::testing::Each(2.0f));
  });
}

}  // namespace
}  // namespace phi
