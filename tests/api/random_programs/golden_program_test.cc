// Random programs as the printer prints them: made by
// random_program_print_test --write, and compared with what it prints now.
#include <gtest/gtest.h>

#include "agreement.h"
#include "site.h"

namespace phi::testing::programs {
namespace {

using distributed::Partial;
using distributed::ProcessMesh;
using distributed::ReduceKind;
using distributed::Replicate;
using distributed::Shard;

TEST(RandomProgramsFound, Seed8) {
  Case test;
  test.world = 6;
  test.meshes = {ProcessMesh({4}, {"x"}, {1, 2, 5, 0}), ProcessMesh({4}, {"x"}, {2, 3, 4, 1}),
                 ProcessMesh({2, 2}, {"x", "y"}, {5, 0, 2, 1})};
  test.inputs = {{.shape = {6, 6, 6}, .needs_grad = true}};
  test.parameters = {{.shape = {6, 5}, .layout = {1, {Shard(1)}}},
                     {.shape = {6, 6, 6}},
                     {.shape = {6}, .layout = {1, {Shard(0)}}},
                     {.shape = {6}, .layout = {1, {Shard(0)}}},
                     {.shape = {6}, .layout = {1, {Shard(0)}}}};
  test.is_smooth = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = square(v0);
    Tensor v7 = mean(v6, {}, false);
    Tensor v8 = reshape(v6, {6, 6, 3, 2});
    site.without_grad([&] { return scale_(v0, 0.5, 0.25); });
    site.expect_stale(v7, {v0});
    site.start(694, v7, {0, {Replicate()}});
    Tensor v9 = add_n({v6, v0, v6});
    Tensor v10 = concat({v4, v5, v4}, 0);
    Tensor v11 = site.wait(694);
    site.without_grad([&] { return sigmoid_(v3); });
    Tensor v12 = square(v8);
    Tensor v13 = site.reshard(v6, {0, {Partial()}});
    Tensor v14 = multiply(v13, v6);
    add_(v14, v6);
    Tensor v15 = add(v11, v7);
    Tensor v16 = reduce_as(v4, v7);
    Tensor v17 = Site::rope_pair(v9, v9);
    Tensor v22 = recompute(
        [&]([[maybe_unused]] const TensorList& given) {
          Tensor v20 = scale(given[0], 0.125, -0.25);
          Tensor v21 = sigmoid(v20);
          return v21;
        },
        {v12, v12});
    Tensor v28 = recompute(
        [&]([[maybe_unused]] const TensorList& given) {
          Tensor v25 = scale(given[0], 0.0, 0.625);
          Tensor v26 = subtract(v25, given[0]);
          Tensor v27 = tanh(v26);
          return v27;
        },
        {v6, v4});
    return TensorList{v0, v1, v8, v13, v28};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed1) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {0, 2, 3, 1}), ProcessMesh({2}, {"x"}, {3, 0}),
                 ProcessMesh({2}, {"x"}, {1, 0})};
  test.inputs = {{.shape = {3, 4, 4}}};
  test.parameters = {
      {.shape = {1, 4, 4}, .layout = {2, {Shard(0)}}, .needs_grad = true},
      {.shape = {3, 1, 1}, .layout = {0, {Shard(2), Shard(0)}}, .meanwhile = Meanwhile::kScales}};
  test.reads_aliases = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = mean(v2, {1, 2}, true);
    Tensor v4 = expand_as(v3, v2);
    site.without_grad([&] { return subtract_(v1, v1); });
    Tensor v5 = gather(v2, Site::ids({0, 0}, {2}), 2);
    Tensor v6 = slice(v3, {1}, {0}, {1});
    Tensor v7 = swiglu(v5, std::nullopt);
    Tensor v8 = squeeze(
        std::get<0>(fused_rotary_position_embedding(unsqueeze(v0, {2}), std::nullopt, std::nullopt,
                                                    std::nullopt, std::nullopt, std::nullopt)),
        {2});
    Tensor v9 = reshape(v7, {3, 1});
    square_(v8);
    subtract_(v6, v4);
    divide_(v5, scale(square(v5), 1.0, 0.5));
    multiply_(v6, v6);
    Tensor v10 = sum(v1, {}, DataType::UNDEFINED, false);
    const TensorList list11 = site.gradients({v10}, {v1}, Pass::kGrad);
    Tensor v11 = list11[0];
    site.without_grad([&] { return Site::sgd(v1, v11); });
    return TensorList{v1, v2, v3, v4, v7};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed126) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({4}, {"x"}, {1, 3, 0, 2})};
  test.inputs = {{.shape = {3, 5}, .layout = {0, {Shard(0)}}}};
  test.parameters = {{.shape = {3}}};
  test.is_smooth = true;
  test.uses_disk = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = unsqueeze(v1, {0});
    Tensor v3 = swiglu(v2, v2);
    Tensor v4 = embedding(Site::ids({0, 0, 0, 0, 0, 0}, {2, 3}), v3);
    Tensor v5 = rsqrt(scale(square(v3), 1.0, 0.5));
    Tensor v6 = sqrt(scale(square(v5), 1.0, 0.5));
    Tensor v7 = scale(matmul(v5, v0, false, false), 0.5);
    Tensor v8 = assign(v6);
    Tensor v9 = softmax(v6, 0);
    Tensor v10 = transpose(v6, {1, 0});
    Tensor v11 = unsqueeze(v3, {1});
    site.start(629, v3, {0, {Partial()}});
    Tensor v12 = site.wait(629);
    squeeze_(v8, {0});
    Tensor v13 = subtract(v3, mean(v3, {0}, true));
    site.start(414, v5, {0, {Shard(1)}});
    tanh_(v13);
    Tensor v14 = site.wait(414);
    site.without_grad([&] { return multiply_(v1, v8); });
    Tensor v15 = layer_norm(v13, v8, std::nullopt, 1e-3f, 1);
    Tensor v16 = scale(matmul(v10, v12, false, false), 0.5);
    return TensorList{v0, v5, v8, v9, v12};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed132) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {3, 1}), ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {33, 24}, .layout = {1, {Partial()}}, .needs_grad = true},
                 {.shape = {33, 33}, .layout = {0, {Replicate()}}, .needs_grad = true}};
  test.parameters = {{.shape = {33, 24}, .layout = {0, {Replicate()}}},
                     {.shape = {33, 33}, .layout = {0, {Shard(0)}}, .needs_grad = true},
                     {.shape = {33, 33}, .layout = {0, {Shard(0)}}},
                     {.shape = {33, 33}, .layout = {0, {Shard(0)}}},
                     {.shape = {33, 24}, .needs_grad = true},
                     {.shape = {24}, .layout = {0, {Replicate()}}},
                     {.shape = {24}, .layout = {0, {Replicate()}}},
                     {.shape = {24}, .layout = {0, {Replicate()}}}};
  test.is_bitwise = false;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = p[3];
    Tensor v6 = p[4];
    Tensor v7 = p[5];
    Tensor v8 = p[6];
    Tensor v9 = p[7];
    Tensor v10 = exp(scale(v9, 0.0));
    Tensor v11 = expand(v8, {33, 24});
    Tensor v12 = cast(one_hot(argmax(v8, 0), 24), v8.dtype());
    const TensorList list13 = split(v1, {2, 4, 27}, 1);
    Tensor v13 = list13[0];
    Tensor v14 = list13[1];
    Tensor v15 = list13[2];
    Tensor v21 = scan(
        [&](const Tensor& x, [[maybe_unused]] const TensorList& layer) {
          Tensor v18 = gelu(x, false);
          Tensor v19 = add(v18, v12);
          Tensor v20 = gelu(v19, false);
          return Site::like(v20, x);
        },
        v12, std::vector<TensorList>{TensorList{v7}, TensorList{v8}, TensorList{v9}});
    site.without_grad([&] { return square_(v9); });
    tril_(v14, 0);
    Tensor v22 = multiply(v5, v3);
    Tensor v23 = square(v21);
    site.without_grad([&] { return divide_(v8, scale(square(v12), 1.0, 0.5)); });
    Tensor v24 = scale(matmul(v15, v5, true, true), 0.5);
    add_(v14, v14);
    Tensor v25 = tanh(v1);
    Tensor v26 = mean(v25, {}, false);
    const TensorList list27 = site.gradients({v26}, {v0, v1, v3, v6}, Pass::kTwice);
    Tensor v27 = list27[0];
    Tensor v28 = list27[1];
    Tensor v29 = list27[2];
    Tensor v30 = list27[3];
    site.without_grad([&] { return add_(v8, v23); });
    Tensor v31 = sum(v22, {}, DataType::UNDEFINED, false);
    const TensorList list32 = site.gradients({v31}, {v3, v6}, Pass::kGrad);
    Tensor v32 = list32[0];
    Tensor v33 = list32[1];
    site.without_grad([&] { return Site::momentum(v3, v4, v32); });
    site.without_grad([&] { return subtract_(v6, v33); });
    return TensorList{v3, v13, v14, v23, v30};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed265) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {0, 1, 2, 3}), ProcessMesh({2}, {"x"}, {0, 1}),
                 ProcessMesh({2}, {"x"}, {2, 3})};
  test.inputs = {
      {.shape = {5}, .layout = {0, {Partial(ReduceKind::kMax), Shard(0)}}, .needs_grad = true},
      {.shape = {7, 0, 5}, .layout = {2, {Shard(2)}}}};
  test.parameters = {{.shape = {5, 0, 7}, .layout = {0, {Shard(1), Shard(2)}}}};
  test.not_captured = "shapes depend on data";
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    site.without_grad([&] { return scale_(v2, -0.75, 0.1875); });
    Tensor v3 = where(greater_equal(v0, v0), v0, v0);
    site.without_grad([&] { return sigmoid_(v2); });
    sigmoid_(v3);
    Tensor v4 = squeeze(
        std::get<0>(flash_attention(unsqueeze(v1, {2}), unsqueeze(v1, {2}), unsqueeze(v1, {2}),
                                    std::nullopt, std::nullopt, 0.0f, false)),
        {2});
    Tensor v8 = recompute(
        [&]([[maybe_unused]] const TensorList& given) {
          Tensor v7 = scale(given[0], 0.9375, -0.75);
          return v7;
        },
        {v0, v3});
    Tensor v9 = square(v8);
    Tensor v10 = mean(v9, {}, false);
    const TensorList list11 = site.gradients({v10}, {v0}, Pass::kBackward);
    Tensor v11 = list11[0];
    Tensor v12 = tril(v4, -1);
    relu_(v4);
    Tensor v13 = sum(masked_select(v12, greater_equal(v12, v4)));
    site.start(394, v13, {1, {Replicate()}});
    add_(v10, v10);
    Tensor v14 = maximum(v8, v4);
    Tensor v15 = site.wait(394);
    Tensor v16 = mean(v9, {}, false);
    return TensorList{v1, v2, v11, v12, v13};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed355) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 6;
  test.meshes = {ProcessMesh({6}, {"x"}, {5, 2, 4, 1, 0, 3})};
  test.inputs = {{.shape = {2, 2, 2}, .layout = {0, {Replicate()}}}};
  test.parameters = {{.shape = {2, 6}, .layout = {0, {Shard(1)}}, .needs_grad = true},
                     {.shape = {2, 6, 2}, .layout = {0, {Replicate()}}, .needs_grad = true},
                     {.shape = {2}, .layout = {0, {Shard(0)}}, .needs_grad = true},
                     {.shape = {2}, .layout = {0, {Shard(0)}}, .needs_grad = true},
                     {.shape = {2}, .layout = {0, {Shard(0)}}, .needs_grad = true}};
  test.reads_aliases = true;
  test.is_bitwise = false;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = add(v4, v3);
    Tensor v7 = unsqueeze(v5, {0});
    Tensor v8 = max(v2, {0, 1, 2}, true);
    Tensor v9 = scale(matmul(v2, v7, false, true), 0.5);
    Tensor v10 = square(v3);
    Tensor v11 = site.reshard(v9, {0, {Replicate()}});
    Tensor v12 = mean(v4, {}, false);
    Tensor v13 = site.reshard(v6, {0, {Shard(0)}});
    Tensor v14 = divide(v13, scale(square(v6), 1.0, 0.5));
    Tensor v15 = deferred_gaussian({1, 2}, 0.0f, 0.7f, 37, v7.dtype());
    Tensor v16 = std::get<1>(cross_entropy_with_softmax(v7, Site::ids({0}, {1, 1})));
    return TensorList{v0, v2, v4, v8, v11};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed90) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {0, 1}), ProcessMesh({2, 2}, {"x", "y"}, {0, 1, 2, 3}),
                 ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {5}, .layout = {2, {Partial(ReduceKind::kAvg)}}, .needs_grad = true}};
  test.parameters = {{.shape = {5, 5}, .layout = {2, {Replicate()}}, .needs_grad = true},
                     {.shape = {5, 5}, .layout = {2, {Replicate()}}},
                     {.shape = {5, 5}, .layout = {2, {Replicate()}}}};
  test.reads_aliases = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = divide(v2, scale(square(v3), 1.0, 0.5));
    Tensor v5 = site.without_grad([&] { return squared_l2_norm(v3); });
    Tensor v6 = log(scale(square(v5), 1.0, 0.5));
    Tensor v7 = site.reshard(v6, {0, {Replicate()}});
    Tensor v8 = silu(v2);
    site.start(950, v4, {2, {Shard(0)}});
    Tensor v9 = scale(matmul(v3, v4, false, true), 0.5);
    Tensor v10 = multiply(v7, v4);
    Tensor v11 = site.wait(950);
    Tensor v12 = reduce_as(v7, v7);
    Tensor v13 = swiglu(v7, v7);
    Tensor v14 = add(v9, v8);
    multiply_(v14, v9);
    Tensor v15 = site.reshard(v14, {0, {Shard(0)}});
    Tensor v16 = squeeze(v12, {0});
    Tensor v17 = square(v1);
    Tensor v18 = sum(v17, {}, DataType::UNDEFINED, false);
    const TensorList list19 = site.gradients({v18}, {v0, v1}, Pass::kBackward);
    Tensor v19 = list19[0];
    Tensor v20 = list19[1];
    site.without_grad([&] { return Site::momentum(v1, v2, v20); });
    return TensorList{v2, v3, v4, v13, v20};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed366) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 4;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {2, 0, 3, 1}),
                 ProcessMesh({2, 2}, {"x", "y"}, {1, 2, 0, 3}),
                 ProcessMesh({2, 2}, {"x", "y"}, {2, 0, 1, 3})};
  test.inputs = {{.shape = {5, 5, 1}, .layout = {2, {Partial(ReduceKind::kAvg), Shard(0)}}}};
  test.parameters = {{.shape = {1}, .layout = {1, {Shard(0), Replicate()}}, .needs_grad = true},
                     {.shape = {1, 1}}};
  test.uses_disk = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = mean(v1, {}, false);
    const TensorList list4 = site.gradients({v3}, {v1}, Pass::kGrad);
    Tensor v4 = list4[0];
    Tensor v5 = add_n({v1, v4, v4, v4});
    site.without_grad([&] { return sigmoid_(v4); });
    softmax_(v5, 0);
    Tensor v6 = subtract(v0, mean(v0, {2}, true));
    Tensor v7 = site.reshard(v3, {2, {Replicate(), Replicate()}});
    Tensor v8 = swiglu(v4, v4);
    site.start(9, v6, {1, {Shard(2), Shard(2)}});
    Tensor v9 = rms_norm(v6, v4, 1e-3f);
    Tensor v10 = site.detached(v5);
    Tensor v11 = site.wait(9);
    Tensor v12 = tanh(v3);
    Tensor v13 = sum(v12, {}, DataType::UNDEFINED, false);
    Tensor v14 = tanh(v3);
    Tensor v15 = mean(v14, {}, false);
    Tensor v16 = sum(v12, {}, DataType::UNDEFINED, false);
    return TensorList{v1, v5, v6, v12, v13};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed396) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {2, 0}), ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {1}, .layout = {0, {Replicate()}}},
                 {.shape = {0, 6, 0}, .layout = {1, {Shard(0)}}, .needs_grad = true}};
  test.parameters = {{.shape = {1, 6, 1}, .layout = {0, {Replicate()}}, .needs_grad = true},
                     {.shape = {1, 6, 1}, .layout = {0, {Replicate()}}},
                     {.shape = {1, 6, 1}, .layout = {0, {Replicate()}}},
                     {.shape = {1}, .layout = {1, {Replicate()}}},
                     {.shape = {6}, .layout = {1, {Partial()}}}};
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = p[3];
    Tensor v6 = p[4];
    site.without_grad([&] { return square_(v6); });
    Tensor v7 = dropout(v6, std::nullopt, 0.25, false, "upscale_in_train", 7, true);
    site.start(997, v7, {1, {Replicate()}});
    Tensor v8 = sqrt(scale(square(v7), 1.0, 0.5));
    Tensor v9 = multiply(v7, v8);
    Tensor v10 = maximum(v7, v9);
    Tensor v11 = site.wait(997);
    Tensor v12 = where(greater_equal(v8, v9), v8, v9);
    Tensor v13 = site.reshard(v9, {0, {Replicate()}});
    Tensor v14 = square(v2);
    Tensor v15 = mean(v14, {}, false);
    const TensorList list16 = site.gradients({v15}, {v2}, Pass::kGrad);
    Tensor v16 = list16[0];
    site.without_grad([&] { return Site::adamw(v2, v3, v4, v16); });
    Tensor v17 = reshape(v1, {0, 6, 0});
    unsqueeze_(v17, {0});
    Tensor v18 = site.reshard(v13, {1, {Replicate()}});
    site.start(415, v16, {1, {Shard(1)}});
    Tensor v19 = add(v6, v15);
    const TensorList list20 = split(v19, {2, 4}, 0);
    Tensor v20 = list20[0];
    Tensor v21 = list20[1];
    Tensor v22 = site.wait(415);
    return TensorList{v3, v4, v8, v17, v21};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed334) {
  Case test;
  test.world = 6;
  test.meshes = {ProcessMesh({2, 1, 3}, {"x", "y", "z"}, {0, 1, 2, 3, 4, 5})};
  test.inputs = {
      {.shape = {3}, .layout = {0, {Partial(), Shard(0), Replicate()}}, .needs_grad = true},
      {.shape = {4, 4, 3},
       .layout = {0, {Shard(2), Replicate(), Replicate()}},
       .needs_grad = true}};
  test.parameters = {
      {.shape = {4}, .layout = {0, {Replicate(), Shard(0), Shard(0)}}},
      {.shape = {3}, .layout = {0, {Shard(0), Shard(0), Replicate()}}, .needs_grad = true},
      {.shape = {3}, .layout = {0, {Shard(0), Shard(0), Replicate()}}},
      {.shape = {3}, .layout = {0, {Shard(0), Shard(0), Replicate()}}}};
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = p[3];
    Tensor v6 = mean(v3, {}, false);
    const TensorList list7 = site.gradients({v6}, {v0, v1, v3}, Pass::kBackward);
    Tensor v7 = list7[0];
    Tensor v8 = list7[1];
    Tensor v9 = list7[2];
    site.without_grad([&] { return Site::momentum(v3, v4, v9); });
    const TensorList list10 = split(v5, {1, 2}, 0);
    Tensor v10 = list10[0];
    Tensor v11 = list10[1];
    Tensor v12 = site.without_grad([&] { return relu(v10); });
    Tensor v13 = divide(v11, scale(square(v10), 1.0, 0.5));
    Tensor v14 = swiglu(v10, v10);
    Tensor v15 = add(v8, v7);
    Tensor v16 = subtract(v12, v12);
    scale_(v12, 0.75, 0.1875);
    Tensor v17 = cast(cast(v1, DataType::FLOAT32), v1.dtype());
    Tensor v18 = softmax(v12, 0);
    Tensor v19 = rms_norm(v15, v9, 1e-3f);
    Tensor v20 = gather(v4, Site::ids({0}, {1}), 0);
    Tensor v21 = unsqueeze(v17, {0});
    Tensor v22 = add(v17, v8);
    Tensor v23 = mean(v21, {}, false);
    const TensorList list24 = site.gradients({v23}, {v0, v1, v3}, Pass::kBackward);
    Tensor v24 = list24[0];
    Tensor v25 = list24[1];
    Tensor v26 = list24[2];
    site.without_grad([&] { return Site::momentum(v3, v4, v26); });
    return TensorList{v0, v15, v16, v25, v26};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed380) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({3}, {"x"}, {0, 1, 2})};
  test.inputs = {{.shape = {7, 0}}, {.shape = {0, 7}, .layout = {0, {Replicate()}}}};
  test.parameters = {{.shape = {6, 6, 0}, .layout = {0, {Shard(1)}}, .needs_grad = true},
                     {.shape = {6, 6, 0}, .layout = {0, {Shard(1)}}},
                     {.shape = {6, 6, 0}, .layout = {0, {Shard(1)}}}};
  test.reads_aliases = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = pow(v4, 3.0);
    site.start(599, v5, {0, {Partial(ReduceKind::kAvg)}});
    Tensor v6 = site.wait(599);
    Tensor v7 = reshape(v6, {6, 0});
    sigmoid_(v1);
    add_(v5, v5);
    return TensorList{v1, v2, v3, v4, v5};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed216) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 6;
  test.meshes = {ProcessMesh({2}, {"x"}, {5, 0}), ProcessMesh({2}, {"x"}, {0, 1}),
                 ProcessMesh({2, 3}, {"x", "y"}, {0, 1, 2, 3, 4, 5})};
  test.inputs = {{.shape = {7}, .layout = {2, {Replicate(), Shard(0)}}, .needs_grad = true}};
  test.parameters = {
      {.shape = {7, 3}, .layout = {0, {Partial()}}, .needs_grad = true},
      {.shape = {5, 3, 5}, .layout = {2, {Replicate(), Replicate()}}, .needs_grad = true},
      {.shape = {5, 7, 7}, .layout = {2, {Shard(1), Shard(2)}}}};
  test.not_captured = "shapes depend on data";
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = add_n({v0, v0, v0, v0});
    Tensor v5 = site.reshard(v0, {2, {Shard(0), Shard(0)}});
    Tensor v6 = mean(v4, {}, false);
    const TensorList list7 = site.gradients({v6}, {v0, v1, v2}, Pass::kBackward);
    Tensor v7 = list7[0];
    Tensor v8 = list7[1];
    Tensor v9 = list7[2];
    site.without_grad([&] { return Site::sgd(v1, v8); });
    site.without_grad([&] { return subtract_(v2, v9); });
    Tensor v10 = add_n({v4, v5});
    reshape_(v8, {21});
    Tensor v11 = layer_norm(v9, std::nullopt, std::nullopt, 1e-3f, 2);
    Tensor v12 = where(greater_equal(v11, v11), v11, v11);
    Tensor v13 = site.reshard(v11, {2, {Shard(1), Replicate()}});
    Tensor v14 = mean(v6, {}, false);
    return TensorList{v0, v7, v8, v10, v11};
  };
  expect_agreement(test);
}

}  // namespace
}  // namespace phi::testing::programs
