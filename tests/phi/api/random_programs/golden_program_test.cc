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

TEST(RandomProgramsFound, Seed0) {
  Case test;
  test.world = 6;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {3, 2, 5, 1})};
  test.inputs = {{.shape = {3, 3, 3},
                  .layout = {0, {Partial(ReduceKind::kMax), Replicate()}},
                  .needs_grad = true}};
  test.parameters = {
      {.shape = {1, 7}, .layout = {0, {Replicate(), Shard(1)}}},
      {.shape = {3, 7}, .layout = {0, {Replicate(), Replicate()}}, .needs_grad = true},
      {.shape = {3, 7}, .layout = {0, {Replicate(), Replicate()}}},
      {.shape = {3, 7}, .layout = {0, {Replicate(), Replicate()}}},
      {.shape = {3, 7, 7}, .layout = {0, {Replicate(), Partial()}}, .needs_grad = true},
      {.shape = {3, 7, 7}, .layout = {0, {Replicate(), Partial()}}},
      {.shape = {3, 7, 7}, .layout = {0, {Replicate(), Partial()}}}};
  test.uses_disk = true;
  test.not_captured = "shapes depend on data";
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = p[5];
    Tensor v7 = p[6];
    Tensor v8 = square(v2);
    Tensor v9 = mean(v8, {}, false);
    const TensorList list10 = site.gradients({v9}, {v2, v5, v9}, Pass::kGrad);
    Tensor v10 = list10[0];
    Tensor v11 = list10[1];
    Tensor v12 = list10[2];
    site.without_grad([&] { return multiply_(v5, v11); });
    site.start(84, v11, {0, {Partial(), Shard(2)}});
    Tensor v13 = site.wait(84);
    site.without_grad([&] { return multiply_(v4, v10); });
    Tensor v14 = square(v8);
    Tensor v15 = sum(v14, {}, DataType::UNDEFINED, false);
    unsqueeze_(v13, {0});
    Tensor v20 = recompute(
        [&](const TensorList& given) {
          Tensor v18 = subtract(given[0], given[1]);
          Tensor v19 = add(v18, given[0]);
          return v19;
        },
        {v9, v12});
    Tensor v21 = tanh(v15);
    Tensor v22 = mean(v21, {}, false);
    return TensorList{v1, v9, v13, v21, v22};
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
    reshape_(v9, {3});
    Tensor v10 = site.reshard(v6, {1, {Shard(0)}});
    Tensor v11 = square(v1);
    Tensor v12 = mean(v11, {}, false);
    site.without_grad([&] { return scale_(v1, 0.5, 0.25); });
    site.expect_stale(v12, {v1});
    Tensor v13 = tanh(v12);
    Tensor v14 = mean(v13, {}, false);
    return TensorList{v6, v8, v9, v11, v14};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed3) {
  Case test;
  test.world = 6;
  test.meshes = {ProcessMesh({3}, {"x"}, {0, 1, 2}), ProcessMesh({2, 2}, {"x", "y"}, {4, 1, 0, 2}),
                 ProcessMesh({2}, {"x"}, {2, 4})};
  test.inputs = {{.shape = {1, 2}}};
  test.parameters = {{.shape = {1, 6, 1}, .layout = {0, {Shard(0)}}, .needs_grad = true},
                     {.shape = {2, 2, 1}, .layout = {0, {Shard(1)}}, .needs_grad = true},
                     {.shape = {2, 2, 1}, .layout = {0, {Shard(1)}}},
                     {.shape = {2, 2, 1}, .layout = {0, {Shard(1)}}}};
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = mean(v2, {}, false);
    const TensorList list6 = site.gradients({v5}, {v1, v2}, Pass::kGrad);
    Tensor v6 = list6[0];
    Tensor v7 = list6[1];
    site.without_grad([&] { return Site::sgd(v1, v6); });
    site.without_grad([&] { return Site::adamw(v2, v3, v4, v7); });
    reshape_(v7, {4});
    Tensor v8 = subtract(v7, v7);
    Tensor v9 = sum(v8, {0}, DataType::UNDEFINED, true);
    Tensor v10 = unsqueeze(v6, {1});
    Tensor v11 = square(v2);
    Tensor v12 = mean(v11, {}, false);
    Tensor v13 = tril(v2, 0);
    site.without_grad([&] { return scale_(v2, 0.5, 0.25); });
    site.expect_stale(v12, {v1, v2});
    Tensor v14 = sum(v5, {}, DataType::UNDEFINED, false);
    return TensorList{v1, v2, v3, v6, v8};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed5) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {0, 1}), ProcessMesh({4}, {"x"}, {1, 3, 2, 0}),
                 ProcessMesh({1}, {"x"}, {0})};
  test.inputs = {{.shape = {2, 6}, .layout = {0, {Shard(1)}}}};
  test.parameters = {{.shape = {2}, .layout = {1, {Shard(0)}}, .needs_grad = true}};
  test.reads_aliases = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = dropout(v0, std::nullopt, 0.25, false, "upscale_in_train", 7, true);
    Tensor v3 = add_n({v2, v2});
    Tensor v8 = recompute(
        [&](const TensorList& given) {
          Tensor v6 = gelu(given[0], false);
          Tensor v7 = add(v6, given[0]);
          return v7;
        },
        {v1, v1});
    unsqueeze_(v2, {0});
    Tensor v12 = recompute(
        [&](const TensorList& given) {
          Tensor v11 = subtract(given[0], v1);
          return v11;
        },
        {v8, v8});
    Tensor v16 = recompute(
        [&](const TensorList& given) {
          Tensor v15 = scale(given[0], 0.375, -0.625);
          return v15;
        },
        {v12, v12});
    Tensor v17 = reshape(v16, {2, 1});
    scale_(v16, -1.0, -0.125);
    Tensor v18 = unsqueeze(v17, {0});
    Tensor v19 = reshape(v12, {2, 1});
    Tensor v20 = slice(v16, {0}, {0}, {1});
    Tensor v24 = recompute(
        [&](const TensorList& given) {
          Tensor v23 = multiply(given[0], v17);
          return v23;
        },
        {v17, v20});
    Tensor v25 = site.reshard(v17, {0, {Shard(0)}});
    Tensor v26 = rsqrt(scale(square(v18), 1.0, 0.5));
    Tensor v27 = layer_norm(v3, std::nullopt, std::nullopt, 1e-3f, 1);
    unsqueeze_(v27, {0});
    Tensor v28 = concat({v25, v19, v19}, 1);
    Tensor v29 = square(v28);
    Tensor v30 = mean(v29, {}, false);
    const TensorList list31 = site.gradients({v30}, {v1}, Pass::kTwice);
    Tensor v31 = list31[0];
    Tensor v32 = sum(v26, {}, DataType::UNDEFINED, false);
    return TensorList{v0, v1, v8, v12, v28};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed6) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 6;
  test.meshes = {ProcessMesh({2, 3}, {"x", "y"}, {0, 1, 2, 3, 4, 5}),
                 ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {2, 2}, .layout = {0, {Shard(1), Partial()}}}};
  test.parameters = {
      {.shape = {1, 2},
       .layout = {1, {Replicate()}},
       .needs_grad = true,
       .meanwhile = Meanwhile::kReplaces},
      {.shape = {1, 2}, .layout = {1, {Replicate()}}, .meanwhile = Meanwhile::kReplaces},
      {.shape = {1, 2}, .layout = {1, {Replicate()}}, .meanwhile = Meanwhile::kReplaces}};
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = gelu(v3, true);
    site.start(734, v3, {0, {Shard(0), Shard(0)}});
    Tensor v5 = scale(matmul(v4, v0, false, false), 0.5);
    Tensor v6 = expand(v5, {1, 1, 2});
    Tensor v7 = site.wait(734);
    Tensor v8 = site.reshard(v4, {0, {Replicate(), Shard(0)}});
    Tensor v9 = swiglu(v8, v8);
    site.without_grad([&] { return square_(v2); });
    Tensor v10 = assign(v9);
    Tensor v11 = site.reshard(v10, {0, {Replicate(), Shard(0)}});
    Tensor v12 = sum(v1, {}, DataType::UNDEFINED, false);
    const TensorList list13 = site.gradients({v12}, {v1, v12}, Pass::kGrad);
    Tensor v13 = list13[0];
    Tensor v14 = list13[1];
    Tensor v15 = site.reshard(v12, {1, {Replicate()}});
    Tensor v16 = where(greater_equal(v15, v12), v15, v12);
    Tensor v17 = site.reshard(v4, {1, {Shard(0)}});
    Tensor v18 = add(v15, v16);
    Tensor v19 = where(greater_equal(v7, v15), v7, v15);
    Tensor v20 = divide(v18, scale(square(v15), 1.0, 0.5));
    Tensor v21 = sum(v20, {}, DataType::UNDEFINED, false);
    Tensor v22 = scale(matmul(v9, v19, true, false), 0.5);
    Tensor v23 = sum(v19, {}, DataType::UNDEFINED, false);
    return TensorList{v3, v8, v13, v19, v21};
  };
  expect_agreement(test);
}

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
        [&](const TensorList& given) {
          Tensor v20 = scale(given[0], 0.125, -0.25);
          Tensor v21 = sigmoid(v20);
          return v21;
        },
        {v12, v12});
    Tensor v28 = recompute(
        [&](const TensorList& given) {
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

TEST(RandomProgramsFound, Seed12) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {0, 1, 2, 3}),
                 ProcessMesh({4}, {"x"}, {2, 0, 1, 3}), ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {5, 5}, .layout = {1, {Replicate()}}}};
  test.parameters = {{.shape = {6}},
                     {.shape = {6, 6, 6},
                      .layout = {0, {Replicate(), Shard(2)}},
                      .needs_grad = true,
                      .meanwhile = Meanwhile::kReplaces}};
  test.uses_disk = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = cast(one_hot(argmax(v1, 0), 6), v1.dtype());
    Tensor v4 = reshape(v3, {2, 3});
    Tensor v5 = add_n({v1, v1, v1});
    sigmoid_(v5);
    Tensor v6 = sum(v2, {}, DataType::UNDEFINED, false);
    const TensorList list7 = site.gradients({v6}, {v2}, Pass::kGrad);
    Tensor v7 = list7[0];
    site.without_grad([&] { return subtract_(v2, v7); });
    tanh_(v3);
    Tensor v8 = maximum(v2, v6);
    Tensor v9 = slice(v7, {1}, {0}, {3});
    Tensor v10 = subtract(v8, mean(v8, {2}, true));
    Tensor v11 = rms_norm(v9, v5, 1e-3f);
    Tensor v12 = gelu(v3, false);
    Tensor v13 = rsqrt(scale(square(v11), 1.0, 0.5));
    add_(v10, v7);
    Tensor v14 = mean(v8, {}, false);
    Tensor v15 = mean(v6, {}, false);
    return TensorList{v1, v6, v7, v8, v11};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed30) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {3, 2}), ProcessMesh({2}, {"x"}, {1, 2}),
                 ProcessMesh({4}, {"x"}, {0, 3, 2, 1})};
  test.inputs = {{.shape = {4}, .layout = {2, {Replicate()}}, .needs_grad = true}};
  test.parameters = {{.shape = {7, 7, 7}, .layout = {0, {Replicate()}}},
                     {.shape = {4, 4},
                      .layout = {1, {Replicate()}},
                      .needs_grad = true,
                      .meanwhile = Meanwhile::kReplaces},
                     {.shape = {4, 1, 7}, .layout = {0, {Replicate()}}},
                     {.shape = {4, 1, 7}, .layout = {0, {Replicate()}}},
                     {.shape = {4, 1, 7}, .layout = {0, {Replicate()}}},
                     {.shape = {4}, .layout = {2, {Replicate()}}},
                     {.shape = {4}, .layout = {2, {Replicate()}}},
                     {.shape = {4}, .layout = {2, {Replicate()}}}};
  test.uses_disk = true;
  test.not_captured = "shapes depend on data";
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = p[5];
    Tensor v7 = p[6];
    Tensor v8 = p[7];
    site.without_grad([&] { return divide_(v5, scale(square(v4), 1.0, 0.5)); });
    Tensor v9 = softmax(v5, 1);
    Tensor v13 = scan(
        [&](const Tensor& x, const TensorList& layer) {
          Tensor v12 = multiply(x, layer[0]);
          return Site::like(v12, x);
        },
        v6, std::vector<TensorList>{TensorList{v6}, TensorList{v7}, TensorList{v8}});
    site.without_grad([&] { return multiply_(v9, v9); });
    Tensor v14 = add(v9, v9);
    Tensor v15 = add(v14, v3);
    Tensor v16 = squeeze(v5, {1});
    Tensor v17 = square(v2);
    Tensor v18 = mean(v17, {}, false);
    site.without_grad([&] { return scale_(v2, 0.5, 0.25); });
    site.expect_stale(v18, {v0, v2});
    site.without_grad([&] { return divide_(v13, scale(square(v8), 1.0, 0.5)); });
    Tensor v19 = scale(matmul(v17, v17, false, false), 0.5);
    Tensor v20 = add_n({v9, v15, v15, v14});
    Tensor v21 = scale(matmul(v5, v14, true, false), 0.5);
    Tensor v22 = site.reshard(v17, {0, {Shard(0)}});
    Tensor v23 = squeeze(
        std::get<0>(flash_attention(unsqueeze(v20, {2}), unsqueeze(v3, {2}), unsqueeze(v5, {2}),
                                    std::nullopt, std::nullopt, 0.0f, false)),
        {2});
    Tensor v24 = subtract(v16, mean(v16, {1}, true));
    Tensor v25 = scale(v14, 0.125, 0.5);
    Tensor v26 = scale(matmul(v23, v24, false, true), 0.5);
    Tensor v27 = tanh(v18);
    Tensor v28 = sum(v27, {}, DataType::UNDEFINED, false);
    const TensorList list29 = site.gradients({v28}, {v0, v27}, Pass::kGrad);
    Tensor v29 = list29[0];
    Tensor v30 = list29[1];
    Tensor v31 = tanh(v18);
    Tensor v32 = mean(v31, {}, false);
    return TensorList{v8, v14, v15, v21, v23};
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
    Tensor v5 = squared_l2_norm(site.detached(v3));
    Tensor v6 = log(scale(square(v5), 1.0, 0.5));
    Tensor v7 = site.reshard(v6, {0, {Replicate()}});
    Tensor v8 = silu(v2);
    site.start(950, v4, {2, {Shard(0)}});
    Tensor v9 = scale(matmul(v3, v4, false, true), 0.5);
    Tensor v10 = multiply(v7, v4);
    Tensor v11 = site.wait(950);
    Tensor v12 = softmax(v11, 1);
    tril_(v12, 0);
    Tensor v13 = subtract(v8, mean(v8, {1}, true));
    divide_(v9, scale(square(v2), 1.0, 0.5));
    scale_(v5, 0.0, -0.4375);
    Tensor v14 = gelu(v13, false);
    Tensor v15 = mean(v1, {}, false);
    const TensorList list16 = site.gradients({v15}, {v1}, Pass::kGrad);
    Tensor v16 = list16[0];
    site.without_grad([&] { return Site::adamw(v1, v2, v3, v16); });
    return TensorList{v3, v4, v7, v14, v16};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed199) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {2, 1, 0, 3}), ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {6}, .layout = {0, {Shard(0), Shard(0)}}, .needs_grad = true},
                 {.shape = {2, 2}, .layout = {0, {Replicate(), Replicate()}}, .needs_grad = true}};
  test.parameters = {
      {.shape = {6, 6, 2}, .layout = {0, {Shard(0), Partial()}}},
      {.shape = {6, 6, 2}, .layout = {0, {Shard(2), Replicate()}}, .meanwhile = Meanwhile::kScales},
      {.shape = {6, 6, 2}, .layout = {0, {Shard(2), Replicate()}}, .meanwhile = Meanwhile::kScales},
      {.shape = {6, 6, 2},
       .layout = {0, {Shard(2), Replicate()}},
       .meanwhile = Meanwhile::kScales}};
  test.uses_disk = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = p[3];
    site.without_grad([&] { return add_(v4, v5); });
    Tensor v6 = reshape(v5, {6, 12});
    Tensor v7 = site.reshard(v3, {1, {Partial()}});
    Tensor v8 = transpose(v5, {0, 1, 2});
    Tensor v9 = dropout(v6, std::nullopt, 0.25, false, "upscale_in_train", 7, true);
    site.without_grad([&] { return softmax_(v2, 0); });
    const TensorList list10 = split(v4, {6}, 1);
    Tensor v10 = list10[0];
    scale_(v10, 0.25, 0.4375);
    Tensor v11 = maximum(v5, v7);
    relu_(v10);
    Tensor v12 = add_n({v9, v9});
    Tensor v13 = scale(matmul(v9, v12, false, true), 0.5);
    return TensorList{v1, v5, v7, v9, v13};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed203) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({1}, {"x"}, {0})};
  test.inputs = {{.shape = {25, 24}}, {.shape = {24, 24}, .needs_grad = true}};
  test.parameters = {{.shape = {24, 24}, .layout = {0, {Replicate()}}, .needs_grad = true},
                     {.shape = {24}, .layout = {0, {Replicate()}}, .needs_grad = true},
                     {.shape = {24}, .layout = {0, {Replicate()}}, .needs_grad = true}};
  test.is_smooth = true;
  test.uses_disk = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = site.reshard(v2, {0, {Replicate()}});
    Tensor v6 = exp(scale(v4, 0.0));
    Tensor v7 = site.reshard(v2, {0, {Shard(1)}});
    Tensor v8 = site.reshard(v7, {0, {Shard(1)}});
    Tensor v9 = unsqueeze(v6, {0});
    Tensor v10 = sum(v6, {}, DataType::UNDEFINED, false);
    const TensorList list11 = site.gradients({v10}, {v1, v2, v3, v4}, Pass::kBackward);
    Tensor v11 = list11[0];
    Tensor v12 = list11[1];
    Tensor v13 = list11[2];
    Tensor v14 = list11[3];
    site.without_grad([&] { return Site::sgd(v2, v12); });
    site.without_grad([&] { return Site::sgd(v3, v13); });
    site.without_grad([&] { return Site::sgd(v4, v14); });
    Tensor v15 = mean(v6, {}, false);
    return TensorList{v0, v2, v4, v6, v15};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed206) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 4;
  test.meshes = {ProcessMesh({4}, {"x"}, {1, 0, 3, 2}), ProcessMesh({2}, {"x"}, {0, 1}),
                 ProcessMesh({2, 2}, {"x", "y"}, {1, 0, 3, 2})};
  test.inputs = {{.shape = {5, 6}, .layout = {0, {Shard(0)}}, .needs_grad = true},
                 {.shape = {2, 2}, .layout = {0, {Shard(1)}}, .needs_grad = true}};
  test.parameters = {
      {.shape = {5, 2}, .layout = {2, {Replicate(), Replicate()}}},
      {.shape = {5, 2}, .layout = {2, {Replicate(), Replicate()}}},
      {.shape = {5, 2}, .layout = {2, {Replicate(), Replicate()}}},
      {.shape = {5}, .layout = {2, {Replicate(), Replicate()}}},
      {.shape = {2, 2, 6},
       .layout = {0, {Shard(1)}},
       .needs_grad = true,
       .meanwhile = Meanwhile::kReplaces},
      {.shape = {2, 2, 6}, .layout = {0, {Shard(1)}}, .meanwhile = Meanwhile::kReplaces},
      {.shape = {2, 2, 6}, .layout = {0, {Shard(1)}}, .meanwhile = Meanwhile::kReplaces}};
  test.reads_aliases = true;
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
    Tensor v9 = add(v7, v7);
    Tensor v10 = swiglu(v9, std::nullopt);
    Tensor v11 = mean(v10, {-1}, true);
    Tensor v12 = squeeze(
        std::get<0>(flash_attention(unsqueeze(v11, {2}), unsqueeze(v11, {2}), unsqueeze(v11, {2}),
                                    std::nullopt, std::nullopt, 0.0f, false)),
        {2});
    Tensor v13 = squeeze(
        std::get<0>(flash_attention(unsqueeze(v11, {2}), unsqueeze(v12, {2}), unsqueeze(v12, {2}),
                                    std::nullopt, std::nullopt, 0.0f, false)),
        {2});
    Tensor v14 = cast(cast(v8, DataType::FLOAT32), v8.dtype());
    Tensor v15 = site.reshard(v14, {2, {Shard(1), Shard(0)}});
    Tensor v16 = reshape(v10, {2, 1, 2, 3});
    Tensor v17 = site.detached(v9);
    Tensor v18 = subtract(v11, v13);
    site.without_grad([&] { return add_(v8, v6); });
    site.without_grad([&] { return add_(v16, v16); });
    site.without_grad([&] { return scale_(v7, 0.75, -0.3125); });
    Tensor v19 = tanh(v1);
    Tensor v20 = sum(v19, {}, DataType::UNDEFINED, false);
    const TensorList list21 = site.gradients({v20}, {v0, v1, v6}, Pass::kTwice);
    Tensor v21 = list21[0];
    Tensor v22 = list21[1];
    Tensor v23 = list21[2];
    return TensorList{v8, v14, v15, v16, v18};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed209) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({1}, {"x"}, {1}), ProcessMesh({2}, {"x"}, {1, 3})};
  test.inputs = {{.shape = {2}, .needs_grad = true},
                 {.shape = {1, 1}, .layout = {0, {Shard(0)}}, .needs_grad = true}};
  test.parameters = {{.shape = {1, 5}, .layout = {1, {Shard(1)}}, .needs_grad = true}};
  test.is_smooth = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = sqrt(scale(square(v2), 1.0, 0.5));
    Tensor v4 = site.reshard(v3, {1, {Partial()}});
    Tensor v5 = add_n({v1, v1, v1});
    Tensor v6 = site.reshard(v4, {0, {Shard(0)}});
    divide_(v5, scale(square(v5), 1.0, 0.5));
    Tensor v7 = swiglu(v4, v4);
    Tensor v8 = softmax(v6, 1);
    const TensorList list9 = split(v8, {4, 1}, 1);
    Tensor v9 = list9[0];
    Tensor v10 = list9[1];
    squeeze_(v8, {0});
    const TensorList list11 = split(v7, {1}, 0);
    Tensor v11 = list11[0];
    Tensor v12 = layer_norm(v6, std::nullopt, v8, 1e-3f, 1);
    Tensor v13 = site.reshard(v12, {1, {Shard(0)}});
    Tensor v14 = site.reshard(v7, {1, {Shard(1)}});
    Tensor v15 = subtract(v10, mean(v10, {0}, true));
    Tensor v16 = dropout(v3, std::nullopt, 0.25, false, "upscale_in_train", 7, true);
    tril_(v10, 0);
    divide_(v11, scale(square(v16), 1.0, 0.5));
    Tensor v17 = mean(v11, {}, false);
    const TensorList list18 = site.gradients({v17}, {v1}, Pass::kGrad);
    Tensor v18 = list18[0];
    const TensorList list19 = site.gradients({v17}, {v0, v1, v2}, Pass::kDeferred);
    Tensor v19 = list19[0];
    Tensor v20 = list19[1];
    Tensor v21 = list19[2];
    return TensorList{v0, v1, v2, v15, v16};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed213) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {3, 1}), ProcessMesh({2, 2}, {"x", "y"}, {2, 3, 0, 1}),
                 ProcessMesh({2, 2}, {"x", "y"}, {1, 0, 2, 3})};
  test.inputs = {{.shape = {1, 1}, .layout = {2, {Partial(), Partial()}}},
                 {.shape = {5, 5, 5}, .layout = {1, {Shard(0), Partial()}}, .needs_grad = true}};
  test.parameters = {
      {.shape = {5, 5, 1}, .layout = {2, {Shard(1), Shard(1)}}, .needs_grad = true},
      {.shape = {5, 5, 1}, .layout = {2, {Shard(1), Shard(1)}}},
      {.shape = {5, 5, 1}, .layout = {2, {Shard(1), Shard(1)}}},
      {.shape = {1}, .layout = {2, {Replicate(), Partial(ReduceKind::kMax)}}, .needs_grad = true},
      {.shape = {5},
       .layout = {1, {Shard(0), Replicate()}},
       .needs_grad = true,
       .meanwhile = Meanwhile::kReplaces},
      {.shape = {5}, .layout = {1, {Shard(0), Replicate()}}, .meanwhile = Meanwhile::kReplaces},
      {.shape = {5}, .layout = {1, {Shard(0), Replicate()}}, .meanwhile = Meanwhile::kReplaces},
      {.shape = {1}, .layout = {2, {Shard(0), Shard(0)}}, .needs_grad = true},
      {.shape = {1}, .layout = {2, {Shard(0), Shard(0)}}, .needs_grad = true},
      {.shape = {1}, .layout = {2, {Shard(0), Shard(0)}}, .needs_grad = true}};
  test.reads_aliases = true;
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
    Tensor v10 = p[8];
    Tensor v11 = p[9];
    Tensor v12 = subtract(v6, v9);
    site.without_grad([&] { return subtract_(v2, v4); });
    Tensor v17 = recompute(
        [&](const TensorList& given) {
          Tensor v15 = subtract(given[0], given[1]);
          Tensor v16 = subtract(v15, v10);
          return v16;
        },
        {v9, v10});
    site.without_grad([&] { return subtract_(v8, v12); });
    site.without_grad([&] { return scale_(v8, -0.125, -0.5); });
    Tensor v18 = tanh(v1);
    Tensor v19 = mean(v18, {}, false);
    const TensorList list20 = site.gradients({v19}, {v2, v5, v6, v9, v10, v11}, Pass::kGrad);
    Tensor v20 = list20[0];
    Tensor v21 = list20[1];
    Tensor v22 = list20[2];
    Tensor v23 = list20[3];
    Tensor v24 = list20[4];
    Tensor v25 = list20[5];
    site.without_grad([&] { return Site::momentum(v2, v3, v20); });
    site.without_grad([&] { return Site::sgd(v5, v21); });
    site.without_grad([&] { return Site::adamw(v6, v7, v8, v22); });
    site.without_grad([&] { return subtract_(v11, v25); });
    Tensor v26 = sum(v9, {}, DataType::UNDEFINED, false);
    const TensorList list27 = site.gradients({v26}, {v2, v5, v6, v9, v10, v11}, Pass::kGrad);
    Tensor v27 = list27[0];
    Tensor v28 = list27[1];
    Tensor v29 = list27[2];
    Tensor v30 = list27[3];
    Tensor v31 = list27[4];
    Tensor v32 = list27[5];
    site.without_grad([&] { return Site::adamw(v2, v3, v4, v27); });
    site.without_grad([&] { return Site::sgd(v5, v28); });
    site.without_grad([&] { return Site::adamw(v6, v7, v8, v29); });
    site.without_grad([&] { return Site::sgd(v11, v32); });
    return TensorList{v8, v11, v20, v25, v29};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed214) {
  Case test;
  test.world = 6;
  test.meshes = {ProcessMesh({6}, {"x"}, {0, 1, 2, 3, 4, 5})};
  test.inputs = {{.shape = {3, 3}, .layout = {0, {Shard(1)}}}};
  test.parameters = {{.shape = {3, 2, 5}, .layout = {0, {Shard(2)}}, .needs_grad = true},
                     {.shape = {5, 5}, .layout = {0, {Replicate()}}},
                     {.shape = {5, 5}, .layout = {0, {Replicate()}}},
                     {.shape = {5, 5}, .layout = {0, {Replicate()}}},
                     {.shape = {2}, .layout = {0, {Replicate()}}, .needs_grad = true}};
  test.uses_disk = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = scale(matmul(v4, v4, false, false), 0.5);
    Tensor v7 = add_n({v0, v0, v0});
    Tensor v8 = square(v1);
    Tensor v9 = mean(v8, {}, false);
    site.without_grad([&] { return scale_(v1, 0.5, 0.25); });
    site.expect_stale(v9, {v1, v5});
    site.start(165, v8, {0, {Partial()}});
    Tensor v10 = add(v9, v9);
    Tensor v11 = multiply(v7, v10);
    Tensor v12 = site.wait(165);
    Tensor v13 = site.reshard(v9, {0, {Replicate()}});
    Tensor v14 = deferred_gaussian({3, 3}, 0.0f, 0.7f, 28, v11.dtype());
    Tensor v15 = site.reshard(v13, {0, {Partial()}});
    return TensorList{v3, v9, v10, v12, v14};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed224) {
  Case test;
  test.dtype = DataType::FLOAT32;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {0, 1}), ProcessMesh({1}, {"x"}, {2})};
  test.inputs = {{.shape = {6}, .layout = {0, {Shard(0)}}},
                 {.shape = {5}, .layout = {1, {Replicate()}}}};
  test.parameters = {
      {.shape = {6, 5}, .layout = {1, {Replicate()}}, .needs_grad = true},
      {.shape = {6, 5}, .layout = {1, {Replicate()}}},
      {.shape = {6, 5}, .layout = {1, {Replicate()}}},
      {.shape = {5, 6, 5}, .layout = {0, {Shard(0)}}, .meanwhile = Meanwhile::kReplaces},
      {.shape = {5, 6}, .layout = {1, {Replicate()}}, .needs_grad = true}};
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = p[3];
    Tensor v6 = p[4];
    Tensor v7 = site.detached(v4);
    Tensor v8 = square(v6);
    Tensor v9 = mean(v8, {}, false);
    Tensor v10 = squeeze(
        std::get<0>(flash_attention(unsqueeze(v5, {2}), unsqueeze(v5, {2}), unsqueeze(v5, {2}),
                                    std::nullopt, std::nullopt, 0.0f, false)),
        {2});
    site.without_grad([&] { return scale_(v6, 0.5, 0.25); });
    site.expect_stale(v9, {v2, v6});
    site.without_grad([&] { return add_(v5, v5); });
    Tensor v11 = squeeze(
        std::get<0>(flash_attention(unsqueeze(v10, {2}), unsqueeze(v10, {2}), unsqueeze(v10, {2}),
                                    std::nullopt, std::nullopt, 0.0f, false)),
        {2});
    Tensor v12 = reduce_as(v10, v7);
    Tensor v13 = dropout(v8, std::nullopt, 0.25, false, "upscale_in_train", 7, true);
    Tensor v14 = site.reshard(v10, {0, {Replicate()}});
    Tensor v15 = divide(v11, scale(square(v12), 1.0, 0.5));
    Tensor v20 = recompute(
        [&](const TensorList& given) {
          Tensor v18 = scale(given[0], 0.9375, 0.125);
          Tensor v19 = tanh(v18);
          return v19;
        },
        {v8, v13});
    Tensor v21 = max(v0, {}, false);
    return TensorList{v3, v4, v5, v14, v15};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed228) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {2, 3}), ProcessMesh({2}, {"x"}, {3, 2}),
                 ProcessMesh({2, 2}, {"x", "y"}, {2, 0, 1, 3})};
  test.inputs = {{.shape = {5, 5}},
                 {.shape = {6, 6}, .layout = {2, {Shard(0), Shard(0)}}, .needs_grad = true}};
  test.parameters = {{.shape = {5, 5}, .layout = {0, {Partial()}}, .needs_grad = true},
                     {.shape = {5, 5}, .layout = {0, {Partial()}}},
                     {.shape = {5, 5}, .layout = {0, {Partial()}}},
                     {.shape = {6, 6}, .layout = {0, {Shard(1)}}, .needs_grad = true}};
  test.is_smooth = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = in[1];
    Tensor v2 = p[0];
    Tensor v3 = p[1];
    Tensor v4 = p[2];
    Tensor v5 = p[3];
    Tensor v6 = concat({v4, v3, v4}, 0);
    Tensor v7 = scale(matmul(v5, v5, false, true), 0.5);
    Tensor v8 = add_n({v6, v6, v6, v6});
    Tensor v9 = swiglu(v2, v3);
    Tensor v10 = site.reshard(v1, {1, {Partial()}});
    Tensor v11 = sigmoid(v10);
    site.start(260, v4, {1, {Shard(0)}});
    Tensor v12 = add(v8, v8);
    Tensor v13 = reshape(v11, {36});
    Tensor v14 = site.wait(260);
    scale_(v11, -0.25, 0.0);
    Tensor v15 = concat({v12, v12}, 1);
    Tensor v16 = concat({v4, v4}, 0);
    Tensor v17 = pow(v3, 3.0);
    Tensor v18 = mean(v9, {}, false);
    const TensorList list19 = site.gradients({v18}, {v1, v2, v18}, Pass::kGrad);
    Tensor v19 = list19[0];
    Tensor v20 = list19[1];
    Tensor v21 = list19[2];
    scale_(v17, -0.375, 0.25);
    Tensor v22 = sum(v18, {}, DataType::UNDEFINED, false);
    return TensorList{v8, v11, v16, v17, v21};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed236) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2, 2}, {"x", "y"}, {0, 3, 2, 1}), ProcessMesh({2}, {"x"}, {0, 1})};
  test.inputs = {{.shape = {33, 33}}};
  test.parameters = {
      {.shape = {33, 25}, .layout = {0, {Shard(1), Shard(0)}}},
      {.shape = {33, 25}, .layout = {0, {Shard(1), Shard(0)}}},
      {.shape = {33, 25}, .layout = {0, {Shard(1), Shard(0)}}},
      {.shape = {25, 25}, .layout = {1, {Replicate()}}, .needs_grad = true},
      {.shape = {25, 33}, .layout = {0, {Replicate(), Shard(0)}}, .needs_grad = true},
      {.shape = {25, 33}, .layout = {0, {Replicate(), Shard(0)}}},
      {.shape = {25, 33}, .layout = {0, {Replicate(), Shard(0)}}}};
  test.is_smooth = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = p[5];
    Tensor v7 = p[6];
    Tensor v8 = site.reshard(v3, {1, {Partial(ReduceKind::kMax)}});
    site.without_grad([&] { return divide_(v5, scale(square(v7), 1.0, 0.5)); });
    Tensor v9 = gelu(v6, true);
    Tensor v10 = gelu(v9, false);
    Tensor v11 = site.reshard(v10, {1, {Shard(1)}});
    Tensor v12 = add(v11, v11);
    Tensor v13 = subtract(v4, mean(v4, {1}, true));
    Tensor v14 = square(v4);
    Tensor v15 = mean(v14, {}, false);
    const TensorList list16 = site.gradients({v15}, {v4, v5}, Pass::kGrad);
    Tensor v16 = list16[0];
    Tensor v17 = list16[1];
    Tensor v18 = pow(v8, 2.0);
    Tensor v19 = log(scale(square(v10), 1.0, 0.5));
    site.start(511, v18, {0, {Shard(1), Shard(0)}});
    Tensor v20 = swiglu(v12, v11);
    Tensor v21 = square(v14);
    Tensor v22 = mean(v21, {}, false);
    Tensor v23 = embedding(Site::ids({16, 5, 20, 7, 23, 15, 9, 7}, {2, 4}), v21);
    Tensor v24 = mean(v9, {0}, true);
    Tensor v25 = add_n({v20, v7, v5});
    Tensor v26 = site.wait(511);
    return TensorList{v2, v3, v11, v23, v24};
  };
  expect_agreement(test);
}

TEST(RandomProgramsFound, Seed264) {
  Case test;
  test.world = 4;
  test.meshes = {ProcessMesh({2}, {"x"}, {0, 1}), ProcessMesh({2, 2}, {"x", "y"}, {0, 3, 1, 2})};
  test.inputs = {{.shape = {25, 24}, .layout = {0, {Partial(ReduceKind::kAvg)}}}};
  test.parameters = {
      {.shape = {25, 25}, .layout = {1, {Shard(0), Replicate()}}},
      {.shape = {25, 24}},
      {.shape = {25, 24}, .layout = {1, {Replicate(), Shard(0)}}, .needs_grad = true},
      {.shape = {25, 24}, .layout = {1, {Replicate(), Shard(0)}}},
      {.shape = {25, 24}, .layout = {1, {Replicate(), Shard(0)}}}};
  test.is_smooth = true;
  test.function = [](Site& site, const TensorList& in, const TensorList& p) {
    static_cast<void>(site), static_cast<void>(in), static_cast<void>(p);
    Tensor v0 = in[0];
    Tensor v1 = p[0];
    Tensor v2 = p[1];
    Tensor v3 = p[2];
    Tensor v4 = p[3];
    Tensor v5 = p[4];
    Tensor v6 = std::get<1>(
        cross_entropy_with_softmax(v5, Site::ids({1,  3,  18, 12, 16, 23, 13, 17, 13, 11, 9, 2, 2,
                                                  22, 23, 20, 8,  6,  20, 7,  9,  20, 20, 2, 1},
                                                 {25, 1})));
    Tensor v7 = sigmoid(v1);
    Tensor v8 = square(v3);
    Tensor v9 = mean(v8, {}, false);
    const TensorList list10 = site.gradients({v9}, {v3, v9}, Pass::kGrad);
    Tensor v10 = list10[0];
    Tensor v11 = list10[1];
    scale_(v9, 1.0, -0.25);
    Tensor v12 = deferred_gaussian({25, 24}, 0.0f, 0.7f, 49, v8.dtype());
    Tensor v13 = square(v9);
    Tensor v14 = mean(v13, {}, false);
    Tensor v15 = square(v13);
    Tensor v16 = mean(v15, {}, false);
    return TensorList{v0, v1, v3, v4, v10};
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
    Tensor v3 = silu(v1);
    unsqueeze_(v3, {0});
    Tensor v9 = recompute(
        [&](const TensorList& given) {
          Tensor v6 = add(given[0], given[1]);
          Tensor v7 = tanh(v6);
          Tensor v8 = add(v7, given[0]);
          return v8;
        },
        {v0, v0});
    Tensor v10 = site.reshard(v9, {0, {Replicate(), Shard(0)}});
    Tensor v11 = sum(masked_select(v10, greater_equal(v10, v10)));
    scale_(v11, -0.75, 0.4375);
    Tensor v12 = site.reshard(v11, {0, {Replicate(), Replicate()}});
    Tensor v13 = subtract(v3, v9);
    Tensor v14 = reshape(v0, {1, 5});
    sigmoid_(v13);
    Tensor v15 = square(v11);
    Tensor v16 = square(v15);
    Tensor v17 = mean(v16, {}, false);
    Tensor v18 = relu(v17);
    scale_(v15, 0.5, 0.25);
    site.expect_stale(v17, {v0});
    return TensorList{v0, v2, v10, v11, v13};
  };
  expect_agreement(test);
}

}  // namespace
}  // namespace phi::testing::programs
