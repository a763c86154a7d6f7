// Operators in every form that the generator makes code of: plain, distributed, captured, with
// gradients.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "api/call/named_call.h"
#include "api/capture/program.h"
#include "api/generated/ops/add.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/multiply.h"
#include "api/generated/ops/relu.h"
#include "api/generated/ops/scale.h"
#include "api/generated/ops/square.h"
#include "api/generated/ops/sum.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"
#include "t_forms/api.h"
#include "tests/support/error_matchers.h"

namespace phi {
namespace {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

const Placement kPlacements[] = {Replicate(), Shard(0), Shard(1)};

Tensor row(const std::vector<float>& values) {
  return Tensor::from<float>(values, {2, static_cast<int64_t>(values.size()) / 2});
}

Tensor leaf(const std::vector<float>& values) {
  Tensor x = row(values);
  x.set_requires_grad();
  return x;
}

std::vector<float> values(const Tensor& x) {
  const Tensor whole = x.is_dist() ? distributed::gathered_everywhere(x) : x;
  return whole.to_vector<float>();
}

// f on plain tensors, and on four ranks with `leaves` laid out on two meshes of some of them.
void everywhere(const std::function<void(const std::function<Tensor(const Tensor&)>& lay)>& f) {
  f([](const Tensor& x) { return x; });
  distributed::run_ranks(4, [&](distributed::World&) {
    for (const ProcessMesh& mesh : {ProcessMesh({2}, {"x"}, {1, 3}), ProcessMesh({4}, {"x"})}) {
      for (const Placement& placement : kPlacements) {
        SCOPED_TRACE(placement.to_string());
        f([&](const Tensor& x) {
          const bool fits = placement != Shard(1) || x.ndim() > 1;
          return shard_tensor(x, mesh, {fits ? placement : Replicate()});
        });
      }
    }
  });
}

// ---- several lists, beside a single tensor ----

TEST(Lists, ComeOutBesideEachOther) {
  everywhere([](const auto& lay) {
    const Tensor x = lay(row({1, 2, 3, 4}));
    const auto [products, sums, total] =
        t_spread(x, {lay(row({1, 1, 2, 2})), lay(row({5, 6, 7, 8})), lay(row({0, 0, 0, 1}))});
    ASSERT_THAT(products, SizeIs(3));
    ASSERT_THAT(sums, SizeIs(3));
    EXPECT_THAT(values(products[1]), ElementsAre(5, 12, 21, 32));
    EXPECT_THAT(values(sums[0]), ElementsAre(2, 3, 5, 6));
    EXPECT_THAT(values(sums[2]), ElementsAre(1, 2, 3, 5));
    EXPECT_THAT(values(total), ElementsAre(6, 14, 27, 44));
    EXPECT_EQ(total.is_dist(), x.is_dist());
  });
}

TEST(Lists, MayBeEmpty) {
  const auto [products, sums, total] = t_spread(row({1, 2}), {});
  EXPECT_THAT(products, SizeIs(0));
  EXPECT_THAT(values(total), ElementsAre(0, 0));
}

// d/dx of a product, a sum and the total, each with a weight of its own; one of the outputs is not
// used.
TEST(Lists, HaveGradientsAndAreGradients) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2, 3, 4}), a = leaf({1, 1, 2, 2}), b = leaf({5, 6, 7, 8});
    const auto [products, sums, total] = t_spread(lay(x), {lay(a), lay(b)});
    const Tensor objective =
        add(add(sum(scale(products[1], 2.0f)), sum(scale(sums[0], 3.0f))), sum(total));
    const TensorList g = grad({objective}, {x, a, b});
    EXPECT_THAT(values(g[0]),
                ElementsAre(2 * 5 + 3 + 6, 2 * 6 + 3 + 7, 2 * 7 + 3 + 9, 2 * 8 + 3 + 10));
    EXPECT_THAT(values(g[1]), ElementsAre(3 + 1, 3 + 2, 3 + 3, 3 + 4));
    EXPECT_THAT(values(g[2]), ElementsAre(2 + 1, 4 + 2, 6 + 3, 8 + 4));
  });
}

TEST(Lists, GradientsAreMadeWhereTheyAreWanted) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2, 3, 4}), one = row({1, 1, 1, 1});
    const Tensor total = std::get<2>(t_spread(lay(x), {lay(one), lay(one)}));
    EXPECT_THAT(values(grad({sum(total)}, {x})[0]), Each(2));
    const auto [none, scales] =
        t_spread_grad(lay(one), {lay(one)}, {lay(one)}, {lay(one)}, lay(one), GradMask({1}));
    EXPECT_FALSE(none.defined());
    EXPECT_THAT(scales, SizeIs(1));
    const auto [x_grad, no_scales] =
        t_spread_grad(lay(one), {lay(one)}, {lay(one)}, {lay(one)}, lay(one), GradMask({0}));
    EXPECT_THAT(values(x_grad), Each(3));
    EXPECT_THAT(no_scales, SizeIs(0));
  });
}

TEST(Lists, AreCapturedAndCalledByName) {
  const Tensor x = row({1, 2, 3, 4}), a = row({2, 2, 2, 2});
  const Program program = capture(
      [](const TensorList& in) {
        Tensor from = in[0];
        from.set_requires_grad();
        const auto [products, sums, total] = t_spread(from, {in[1], in[1]});
        return TensorList{products[1], sums[0], total, grad({sum(sums[1])}, {from})[0]};
      },
      {x, a});
  const TensorList out = program.run({x, a});
  EXPECT_THAT(values(out[0]), ElementsAre(2, 4, 6, 8));
  EXPECT_THAT(values(out[1]), ElementsAre(3, 4, 5, 6));
  EXPECT_THAT(values(out[2]), ElementsAre(4, 8, 12, 16));
  EXPECT_THAT(values(out[3]), Each(1));
  const TensorList all = call_op("t_spread", {{x}, {a, a}});
  ASSERT_THAT(all, SizeIs(5));
  EXPECT_THAT(values(all[4]), ElementsAre(4, 8, 12, 16));
}

// ---- lists that are written in place ----

TEST(ListsInPlace, KeepTheirBytes) {
  everywhere([](const auto& lay) {
    TensorList xs = {lay(row({1, 2, 3, 4})), lay(row({5, 6, 7, 8}))}, ys = {lay(row({1, 1}))};
    const TensorList before = xs;
    t_scale_all_(xs, ys, 3.0f);
    EXPECT_THAT(values(before[0]), ElementsAre(3, 6, 9, 12)) << "other handles see it";
    EXPECT_THAT(values(xs[1]), ElementsAre(15, 18, 21, 24));
    EXPECT_THAT(values(ys[0]), ElementsAre(3, 3));
    TensorList none;
    t_scale_all_(xs, none, 2.0f);
    EXPECT_THAT(values(before[0]), ElementsAre(6, 12, 18, 24));
  });
}

TEST(ListsInPlace, HaveGradients) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2, 3, 4}), y = leaf({1, 1, 1, 1});
    TensorList xs = {scale(lay(x), 2.0f), scale(lay(y), 5.0f)}, ys = {scale(lay(x), 1.0f)};
    t_scale_all_(xs, ys, 3.0f);
    const TensorList g = grad({add(sum(square(xs[0])), sum(add(xs[1], ys[0])))}, {x, y});
    EXPECT_THAT(values(g[0]), ElementsAre(75, 147, 219, 291)) << "2 * 6 * 6 * x + 3";
    EXPECT_THAT(values(g[1]), Each(15));
  });
}

TEST(ListsInPlace, LeavesAreRefused) {
  TensorList xs = {row({1, 2}), leaf({1, 2})}, none;
  EXPECT_THAT([&] { t_scale_all_(xs, none, 3.0f); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "is a leaf that requires a gradient"));
}

TEST(ListsInPlace, AreCaptured) {
  const Tensor parameter = row({1, 2, 3, 4});
  const Program program = capture(
      [&](const TensorList& in) {
        TensorList xs = {parameter}, ys = {scale(in[0], 1.0f)};
        t_scale_all_(xs, ys, 2.0f);
        return TensorList{add(xs[0], ys[0])};
      },
      {row({1, 1, 1, 1})});
  EXPECT_THAT(values(program.run({row({1, 1, 1, 1})})[0]), ElementsAre(4, 6, 8, 10));
  EXPECT_THAT(values(program.run({row({0, 0, 0, 0})})[0]), ElementsAre(4, 8, 12, 16));
  EXPECT_THAT(values(parameter), ElementsAre(4, 8, 12, 16));
}

// ---- views beside outputs that a kernel makes ----

TEST(WrittenViews, ShareTheBytesOfTheirInput) {
  everywhere([](const auto& lay) {
    const Tensor x = lay(row({1, 2, 3, 4}));
    const Tensor mean = lay(Tensor::from<float>({10, 20}, {2}));
    const Tensor variance = lay(Tensor::from<float>({3, 4}, {2}));
    const auto [out, mean_out, variance_out] = t_running(x, {}, mean, variance, 0.5f, 7);
    EXPECT_THAT(values(out), ElementsAre(1 - 10 + 7, 4 - 20 + 7, 9 - 10 + 7, 16 - 20 + 7));
    EXPECT_THAT(values(mean), ElementsAre(5, 10));
    EXPECT_THAT(values(mean_out), ElementsAre(5, 10));
    EXPECT_THAT(values(variance), ElementsAre(6, 8));
    EXPECT_THAT(values(variance_out), ElementsAre(6, 8));
  });
}

TEST(WrittenViews, AreAbsentWhereTheirInputIs) {
  everywhere([](const auto& lay) {
    const Tensor mean = lay(Tensor::from<float>({10, 20}, {2}));
    const auto [out, mean_out, variance_out, saved] = intermediate::t_running(
        lay(row({1, 2, 3, 4})), {mean}, mean, std::nullopt, 0.5f, std::nullopt);
    EXPECT_FALSE(variance_out.defined());
    EXPECT_THAT(values(out), ElementsAre(-9, -16, -1, -4));
    EXPECT_THAT(values(saved), ElementsAre(2, 4, 6, 8));
    EXPECT_THAT(values(mean), ElementsAre(5, 10));
  });
}

TEST(WrittenViews, OutputsHaveGradientsAndStateHasNone) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2, 3, 4});
    const Tensor mean = lay(Tensor::from<float>({10, 20}, {2}));
    const auto out = std::get<0>(t_running(lay(x), {}, mean, std::nullopt, 0.5f, 7));
    EXPECT_THAT(values(grad({sum(out)}, {x})[0]), ElementsAre(2, 4, 6, 8));
    Tensor learned = Tensor::from<float>({10, 20}, {2});
    learned.set_requires_grad();
    EXPECT_THAT([&] { t_running(lay(x), {}, lay(learned), std::nullopt, 0.5f, 7); },
                ThrowsError(ErrorCode::kPreconditionNotMet, "requires a gradient"));
  });
}

// What a gradient keeps of the input may not be overwritten unnoticed.
TEST(WrittenViews, CountAsWrites) {
  Tensor start = Tensor::from<float>({10, 20}, {2});
  start.set_requires_grad();
  const Tensor root = relu(start);
  const Tensor state = root.detach();
  t_running(row({1, 2, 3, 4}), {}, state, std::nullopt, 0.5f, 7);
  EXPECT_THAT([&] { grad({sum(root)}, {start}); },
              ThrowsError(ErrorCode::kPreconditionNotMet, "has written to it since"));
}

TEST(WrittenViews, AreStateOfAProgram) {
  const Tensor mean = Tensor::from<float>({8, 16}, {2});
  const auto step = [&](const TensorList& in) {
    const auto [out, mean_out, variance_out] = t_running(in[0], {}, mean, std::nullopt, 0.5f, 0);
    return TensorList{out, scale(mean_out, 1.0f)};
  };
  const Tensor x = row({0, 0, 0, 0});
  const Program program = capture(step, {x});
  EXPECT_THAT(values(mean), ElementsAre(8, 16)) << "no values are computed";
  EXPECT_THAT(values(program.run({x})[0]), ElementsAre(-8, -16, -8, -16));
  EXPECT_THAT(values(program.run({x})[1]), ElementsAre(2, 4));
  EXPECT_THAT(values(mean), ElementsAre(2, 4));
}

TEST(Views, BesideAnOutputOfTheKernel) {
  everywhere([](const auto& lay) {
    const Tensor x = lay(row({1, 2, 3, 4}));
    const auto [out, twice] = t_column(x);
    EXPECT_EQ(out.shape(), Dims({2, 2, 1}));
    EXPECT_THAT(values(out), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(values(twice), ElementsAre(2, 4, 6, 8));
    Tensor shared = out;
    relu_(scale_(shared, -1.0f));
    EXPECT_THAT(values(x), Each(0)) << "they share their bytes";
    EXPECT_THAT(values(twice), ElementsAre(2, 4, 6, 8));
  });
}

TEST(Views, LeaveWhatOthersKeepOfTheirInput) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2, 3, 4});
    const auto [out, twice] = t_column(relu(lay(x)));
    const Tensor g = grad({add(sum(scale(out, 3.0f)), sum(twice))}, {x})[0];
    EXPECT_THAT(values(g), Each(5));
  });
}

TEST(Views, InPlace) {
  everywhere([](const auto& lay) {
    const Tensor start = leaf({1, 2, 3, 4});
    Tensor x = scale(lay(start), 2.0f);
    const Tensor other = x;
    const auto [out, twice] = t_column_(x);
    EXPECT_EQ(other.shape(), Dims({2, 2, 1}));
    EXPECT_THAT(values(twice), ElementsAre(4, 8, 12, 16));
    EXPECT_THAT(values(grad({add(sum(x), sum(twice))}, {start})[0]), Each(6));
  });
}

TEST(Views, OfAProgramAreNoWrites) {
  const Tensor x = row({1, 2, 3, 4});
  const Program program = capture(
      [&](const TensorList& in) {
        const auto [out, twice] = t_column(x);
        return TensorList{multiply(out, in[0]), twice};
      },
      {full({}, 2.0f)});
  EXPECT_EQ(program.updated(0), program.body().inputs[1]) << "the parameter stays as it is";
  const TensorList out = program.run({full({}, 3.0f)});
  EXPECT_THAT(values(out[0]), ElementsAre(3, 6, 9, 12));
  EXPECT_THAT(values(out[1]), ElementsAre(2, 4, 6, 8));
}

// ---- complex dtypes ----

TEST(ComplexKernels, AreChosenForRealTensors) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2, 3, 4});
    const Tensor spun = t_spin(lay(x));
    EXPECT_EQ(spun.dtype(), DataType::COMPLEX64);
    const Tensor real = t_real_part(spun);
    EXPECT_EQ(real.dtype(), DataType::FLOAT32);
    EXPECT_THAT(values(real), ElementsAre(1, 2, 3, 4));
    EXPECT_THAT(values(grad({sum(scale(real, 5.0f))}, {x})[0]), Each(5));
  });
  EXPECT_EQ(t_spin(full({2}, 1.0, DataType::FLOAT64)).dtype(), DataType::COMPLEX128);
  EXPECT_THAT([] { t_spin(full({2}, 1, DataType::INT64)); },
              ThrowsError(ErrorCode::kUnimplemented, "t_spin"));
}

// ---- attributes that may be absent ----

TEST(OptionalAttributes, AreAbsentOrThere) {
  everywhere([](const auto& lay) {
    const Tensor x = lay(row({1, 2}));
    EXPECT_THAT(values(t_pick(x, std::nullopt)), ElementsAre(6.5, 9.5)) << "defaults";
    EXPECT_THAT(values(t_pick(x, std::nullopt, std::nullopt, std::nullopt)), ElementsAre(3, 6));
    EXPECT_THAT(values(t_pick(x, 10, {{1, 2}}, "x", std::nullopt, 2, IntArray{4, 5})),
                ElementsAre(18, 20));
    const Tensor wide = t_pick(x, 0, std::nullopt, std::nullopt, DataType::FLOAT64);
    EXPECT_EQ(wide.dtype(), DataType::FLOAT64);
  });
}

TEST(OptionalAttributes, ReachTheGradient) {
  everywhere([](const auto& lay) {
    const Tensor x = leaf({1, 2});
    EXPECT_THAT(values(grad({sum(t_pick(lay(x), 1))}, {x})[0]), Each(3));
    const Tensor filled = t_pick(lay(x), 1, std::nullopt, std::nullopt, std::nullopt, 7);
    EXPECT_THAT(values(grad({sum(filled)}, {x})[0]), Each(7));
  });
}

TEST(OptionalAttributes, HaveNamesDefaultsAndTexts) {
  const Tensor x = row({1, 2});
  EXPECT_THAT(values(call_op("t_pick", {{x}})[0]), ElementsAre(6.5, 9.5));
  EXPECT_THAT(
      values(call_op("t_pick", {{x}}, {{"seed", int64_t{2}}, {"name", std::monostate()}})[0]),
      ElementsAre(5.5, 8.5));
  EXPECT_THAT(
      [&] {
        call_op("t_pick", {{x}}, {{"seed", std::string("no")}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "an attribute is 'no', expected an int"));
  const Program program =
      capture([](const TensorList& in) { return TensorList{t_pick(in[0], std::nullopt)}; }, {x});
  EXPECT_THAT(program.to_string(), HasSubstr("seed=none"));
  EXPECT_THAT(program.to_string(), HasSubstr("name=\"abc\""));
  EXPECT_THAT(values(program.run({x})[0]), ElementsAre(6.5, 9.5));
}

// Whether one is there is part of what a call is decided by.
TEST(OptionalAttributes, DecideToo) {
  distributed::run_ranks(2, [](distributed::World&) {
    const Tensor x = shard_tensor(row({1, 2, 3, 4}), ProcessMesh({2}, {"x"}), {Shard(0)});
    EXPECT_EQ(t_pick(x, 1).dtype(), DataType::FLOAT32);
    EXPECT_EQ(t_pick(x, 1, {}, {}, DataType::FLOAT64).dtype(), DataType::FLOAT64);
    EXPECT_EQ(t_pick(x, 1).dtype(), DataType::FLOAT32);
  });
}

}  // namespace
}  // namespace phi
