// Scans: one body for many layers, forward and backward, and the same bits as the loop.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/generated/ops/add.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/mean.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/subtract.h"
#include "capture_support.h"
#include "distributed/api.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"
#include "support/rank_launcher.h"

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::World;
using distributed::testing::on_ranks;
using phi::testing::bytes_of;
using phi::testing::weights;
using phi::testing::weights_within;
using ::testing::HasSubstr;

Tensor block(const Tensor& x, const TensorList& w) {
  return add(x, matmul(gelu(matmul(x, w[0])), w[1]));
}

std::vector<TensorList> make_layers(size_t n) {
  std::vector<TensorList> layers;
  for (size_t i = 0; i < n; ++i) {
    layers.push_back({weights({8, 16}, 10 + i), weights({16, 8}, 100 + i)});
    for (Tensor& w : layers.back()) w.set_requires_grad();
  }
  return layers;
}

TensorList flat(const std::vector<TensorList>& layers) {
  TensorList list;
  for (const TensorList& layer : layers) list.insert(list.end(), layer.begin(), layer.end());
  return list;
}

// Loss and the gradients of x and of all layers.
TensorList loss_and_grads(const Tensor& x, const std::vector<TensorList>& layers) {
  const Tensor loss = mean(square(scan(block, x, layers)), {}, false);
  TensorList leaves = flat(layers);
  leaves.push_back(x);
  TensorList out = grad({loss}, leaves);
  out.push_back(loss.detach());
  return out;
}

void expect_same(const TensorList& a, const TensorList& b) {
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(bytes_of(a[i]), bytes_of(b[i])) << i;
}

TEST(Scan, CapturedItHasTheBitsOfTheLoop) {
  const auto layers = make_layers(5);
  Tensor x = weights({4, 8}, 1);
  x.set_requires_grad();
  const auto f = [&](const TensorList& in) { return loss_and_grads(in[0], layers); };
  const Program program = capture(f, {x});
  for (int i = 0; i < 2; ++i) expect_same(program.run({x}), f({x}));
  EXPECT_EQ(program.bodies().size(), 2u);
  EXPECT_THAT(program.to_string(), HasSubstr("scan 5 x body0"));
  EXPECT_THAT(program.to_string(), HasSubstr("scan reversed 5 x body1"));
}

TEST(Scan, LayersMayLieWithinLargerStorages) {
  std::vector<TensorList> layers;
  for (uint64_t i = 0; i < 3; ++i) {
    layers.push_back({weights_within({8, 16}, 10 + i), weights_within({16, 8}, 100 + i)});
  }
  const auto f = [&](const TensorList& in) { return TensorList{scan(block, in[0], layers)}; };
  const Tensor x = weights_within({4, 8}, 1);
  expect_same(capture(f, {x}).run({x}), f({x}));
  layers[1][0] = weights({8, 16}, 77);
  EXPECT_THAT(
      [&] { capture(f, {x}); },
      ThrowsError(
          ErrorCode::kUnimplemented,
          "tensor 0 of layer 1 begins 0 bytes into its storage, that of layer 0 begins 512"));
}

TEST(Scan, WhatItBeginsWithMayLieWithinALargerStorage) {
  const auto layers = make_layers(3);
  const Tensor x = weights_within({4, 8}, 1);
  const auto f = [&](const TensorList&) { return TensorList{scan(block, x, layers).detach()}; };
  expect_same(capture(f, {}).run({}), f({}));
}

TEST(Scan, ForwardAlone) {
  const auto layers = make_layers(3);
  const auto f = [&](const TensorList& in) {
    const NoGrad no_grad;
    return TensorList{scan(block, in[0], layers)};
  };
  const Tensor x = weights({4, 8}, 1);
  const Program program = capture(f, {x});
  expect_same(program.run({x}), f({x}));
  EXPECT_EQ(program.bodies().size(), 1u);
}

TEST(Scan, TheProgramDoesNotGrowWithTheNumberOfLayers) {
  const auto steps_of = [](size_t n) {
    const auto layers = make_layers(n);
    Tensor x = weights({4, 8}, 1);
    x.set_requires_grad();
    return capture([&](const TensorList& in) { return loss_and_grads(in[0], layers); }, {x})
        .num_steps();
  };
  EXPECT_EQ(steps_of(3), steps_of(40));
}

TEST(Scan, ValuesOfOutsideAreInvariant) {
  const auto layers = make_layers(4);
  Tensor x = weights({4, 8}, 1);
  x.set_requires_grad();
  const Tensor shared = weights({8}, 2);
  const auto f = [&](const TensorList& in) {
    const Tensor bias = scale(shared, 2.0);
    const auto body = [&](const Tensor& h, const TensorList& w) {
      return multiply(block(h, w), bias);
    };
    const Tensor loss = mean(square(scan(body, in[0], layers)), {}, false);
    return grad({loss}, {in[0], layers[0][0], layers[3][1]});
  };
  const Program program = capture(f, {x});
  expect_same(program.run({x}), f({x}));
}

TEST(Scan, RecomputedLayers) {
  const auto layers = make_layers(4);
  Tensor x = weights({4, 8}, 1);
  x.set_requires_grad();
  const auto f = [&](const TensorList& in) {
    const auto body = [](const Tensor& h, const TensorList& w) {
      return recompute([w](const TensorList& inputs) { return block(inputs[0], w); }, {h});
    };
    scan(body, in[0], layers);
    const Tensor loss = mean(square(scan(body, in[0], layers)), {}, false);
    loss.backward();
    TensorList out;
    for (Tensor w : flat(layers)) {
      out.push_back(w.grad());
      w.clear_grad();
    }
    return out;
  };
  const Program program = capture(f, {x});
  expect_same(program.run({x}), f({x}));
}

// All layers' gradients of the second half would be there at once if they were added behind the
// scan.
TEST(Scan, SumsOfGradientsAreAddedAsTheyCome) {
  const auto arena_of = [](size_t n) {
    const auto layers = make_layers(n);
    const auto f = [&](const TensorList& in) {
      for (const Tensor& x : in) mean(square(scan(block, x, layers)), {}, false).backward();
      const NoGrad no_grad;
      for (Tensor w : flat(layers)) {
        Tensor sum = w.grad_so_far();
        w.clear_grad();
        Tensor value = w.detach();
        subtract_(value, sum);
      }
      return TensorList{};
    };
    return capture(f, {weights({4, 8}, 1), weights({4, 8}, 2)}).arena_bytes();
  };
  const int64_t gradients = 2 * 8 * 16 * 4;  // of a layer
  const int64_t grown = arena_of(24) - arena_of(8);
  EXPECT_LT(grown, 16 * 2 * gradients);
}

TEST(Scan, LayersOnAMeshAndOutsideOfIt) {
  on_ranks(3, [](World&) {
    const ProcessMesh mesh({2}, {"tp"}, {0, 1});
    std::vector<TensorList> layers;
    for (const TensorList& w : make_layers(4)) {
      layers.push_back({shard_tensor(w[0].detach(), mesh, {Shard(1)}),
                        shard_tensor(w[1].detach(), mesh, {Shard(0)})});
      for (Tensor& part : layers.back()) part.set_requires_grad();
    }
    const auto body = [&](const Tensor& h, const TensorList& w) {
      return distributed::reshard(block(h, w), mesh, {Replicate()});
    };
    Tensor x = shard_tensor(weights({4, 8}, 1), mesh, {Replicate()});
    x.set_requires_grad();
    const auto f = [&](const TensorList& in) {
      const Tensor loss = mean(square(scan(body, in[0], layers)), {}, false);
      return grad({loss}, {in[0], layers[1][0], layers[3][1]});
    };
    const Program program = capture(f, {x});
    expect_same(program.run({x}), f({x}));
  });
}

TEST(Scan, WritingToItsLayerIsAnError) {
  const auto body = [](const Tensor& x, const TensorList& w) {
    Tensor written = w[0];
    scale_(written, 2.0);
    return matmul(matmul(x, w[0]), w[1]);
  };
  std::vector<TensorList> layers = make_layers(2);
  for (TensorList& layer : layers) {
    for (Tensor& w : layer) w = w.detach();
  }
  const auto f = [&](const TensorList& in) { return TensorList{scan(body, in[0], layers)}; };
  EXPECT_THAT(
      [&] {
        capture(f, {weights({4, 8}, 1)});
      },
      ThrowsError(ErrorCode::kUnimplemented, "the function writes to tensor 0"));
}

TEST(Scan, WritingToWhatItHasNotMadeIsAnError) {
  Tensor count = weights({8}, 3);
  const auto body = [&](const Tensor& x, const TensorList& w) {
    scale_(count, 2.0);
    return block(x, w);
  };
  const std::vector<TensorList> layers = make_layers(3);
  const auto f = [&](const TensorList& in) { return TensorList{scan(body, in[0], layers)}; };
  EXPECT_THAT(
      [&] {
        capture(f, {weights({4, 8}, 1)});
      },
      ThrowsError(ErrorCode::kUnimplemented,
                  "the function writes to f32[8], which it did not create"));
}

// Whichever layers require gradients, the others get theirs.
TEST(Scan, LayersMayBeFrozen) {
  for (const size_t frozen : {0, 1, 3}) {
    std::vector<TensorList> layers = make_layers(4);
    layers[frozen][0].set_requires_grad(false);
    layers[frozen][1].set_requires_grad(false);
    const auto f = [&](const TensorList& in) {
      const Tensor loss = mean(square(scan(block, in[0], layers)), {}, false);
      TensorList leaves;
      for (const Tensor& w : flat(layers)) {
        if (w.requires_grad()) leaves.push_back(w);
      }
      return grad({loss}, leaves);
    };
    const Tensor x = weights({4, 8}, 1);
    const Program program = capture(f, {x});
    expect_same(program.run({x}), f({x}));
    EXPECT_EQ(program.bodies().size(), 2u);
  }
}

TEST(Scan, NoGradientOfX) {
  const auto layers = make_layers(3);
  const auto body = [](const Tensor& x, const TensorList& w) { return block(x.detach(), w); };
  const auto again = [](const Tensor& x, const TensorList& w) {
    return recompute([w](const TensorList& in) { return block(in[0], w); }, {x});
  };
  const Tensor x = weights({4, 8}, 1);
  for (const ScanFunction& function : {ScanFunction(body), ScanFunction(again)}) {
    const auto f = [&](const TensorList& in) {
      return grad({mean(square(scan(function, in[0], layers)), {}, false)}, layers[2]);
    };
    const Program program = capture(f, {x});
    expect_same(program.run({x}), f({x}));
  }
}

TEST(Scan, LayersThatDifferAreNamed) {
  std::vector<TensorList> layers = make_layers(2);
  layers[1][1] = weights({16, 7}, 5);
  EXPECT_THAT(
      [&] {
        scan(block, weights({4, 8}, 1), layers);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "tensor 1 of layer 1 is f32[16,7]"));
  std::vector<TensorList> uneven = make_layers(2);
  uneven[1].pop_back();
  EXPECT_THAT(
      [&] {
        scan(block, weights({4, 8}, 1), uneven);
      },
      ThrowsError(ErrorCode::kInvalidArgument, "scan: layer 1 has "));
  const auto narrow = [](const Tensor& x, const TensorList& w) { return matmul(x, w[0]); };
  EXPECT_THAT(
      [&] {
        scan(narrow, weights({4, 8}, 1), make_layers(2));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "the function returns f32[4,16]"));
}

}  // namespace
}  // namespace phi
