// Seeds that callers leave out: drawn from the rank's generator, once per call, alike on every rank
// and mesh, in eager calls, backward passes and programs.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <string>

#include "api/call/named_call.h"
#include "distributed/api.h"
#include "distributed/comm/dry/dry_world.h"
#include "distributed/comm/local/local_world.h"
#include "phi/api.h"
#include "support/error_matchers.h"

namespace phi {
namespace {

using distributed::gathered_everywhere;
using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::run_ranks;
using distributed::Shard;
using distributed::shard_tensor;
using ::testing::AllOf;
using ::testing::AnyOf;
using ::testing::HasSubstr;
using Values = std::vector<float>;
using Attributes = std::vector<std::pair<std::string, AttributeValue>>;

Values values(const Tensor& x) { return cast(x, DataType::FLOAT32).to_vector<float>(); }
Tensor halves(const Dims& shape = {64}) { return full(shape, 0.5); }

/// A call that draws, without its seed.
struct RandomCall {
  std::vector<TensorList> inputs;
  Attributes attributes = {};
  size_t output = 0;
};

const std::vector<int64_t> kShape = {64};
std::map<std::string, RandomCall> random_calls() {
  const Tensor labels = Tensor::from<int64_t>({1, 3}, {2});
  const AttributeValue low = int64_t{0}, high = int64_t{1} << 30;
  return {
      {"gaussian", {{}, {{"shape", kShape}}}},
      {"uniform", {{}, {{"shape", kShape}}}},
      {"truncated_gaussian_random", {{}, {{"shape", kShape}}}},
      {"randint", {{}, {{"low", low}, {"high", high}, {"shape", kShape}}}},
      {"randperm", {{}, {{"n", int64_t{64}}}}},
      {"dropout", {{{halves()}, {Tensor()}}}},
      {"bernoulli", {{{halves()}}}},
      {"binomial", {{{full({64}, 50, DataType::INT32)}, {halves()}}}},
      {"poisson", {{{full({64}, 9.0)}}}},
      {"standard_gamma", {{{halves()}}}},
      {"dirichlet", {{{halves({16, 4})}}}},
      {"exponential_", {{{halves()}}, {{"lam", 1.0}}}},
      {"multinomial", {{{halves()}}, {{"num_samples", int64_t{16}}}}},
      {"rrelu", {{{full({64}, -1.0)}}}},
      {"class_center_sample",
       {{{labels}}, {{"num_classes", int64_t{999}}, {"num_samples", int64_t{20}}}, 1}},
  };
}

Values called(const std::string& op, const RandomCall& call, std::optional<int64_t> seed = {}) {
  Attributes attributes = call.attributes;
  if (seed) attributes.emplace_back("seed", *seed);
  std::vector<TensorList> inputs = call.inputs;
  if (op.ends_with('_')) inputs[0][0] = assign(inputs[0][0]);
  return values(call_op(op, inputs, attributes).at(call.output));
}

TEST(RandomSeed, EveryOperatorWithASeedDrawsAnewWithoutOne) {
  const auto calls = random_calls();
  for (const OpDef* op : ops::all()) {
    const bool has_seed = std::ranges::any_of(
        op->attributes, [](const AttributeDef& a) { return std::string_view(a.name) == "seed"; });
    if (!has_seed) continue;
    ASSERT_TRUE(calls.contains(op->name)) << op->name << " has a seed, and no row here";
    const RandomCall& call = calls.at(op->name);
    seed(5);
    const Values first = called(op->name, call), second = called(op->name, call);
    EXPECT_NE(first, second) << op->name;
    EXPECT_EQ(rng_state(), (RngState{.seed = 5, .draws = 2})) << op->name;
    seed(5);
    EXPECT_EQ(called(op->name, call), first) << op->name;
    EXPECT_EQ(called(op->name, call), second) << op->name;
    seed(6);
    EXPECT_NE(called(op->name, call), first) << op->name;
    for (const int64_t given : {0, 3, -1}) {
      const RngState before = rng_state();
      EXPECT_EQ(called(op->name, call, given), called(op->name, call, given)) << op->name;
      EXPECT_EQ(rng_state(), before) << op->name;
    }
  }
}

TEST(RandomSeed, AFixedSeedThatIsLeftOutIsZero) {
  const auto dropped = [](std::optional<int> given, bool fixed) {
    return values(dropout(halves(), {}, 0.5, false, "upscale_in_train", given, fixed));
  };
  EXPECT_EQ(dropped({}, true), dropped(0, false));
  EXPECT_NE(dropped({}, false), dropped({}, false));
}

Tensor attention(const Tensor& q, const Tensor& k, float dropout,
                 const std::optional<Tensor>& fixed = {}) {
  return std::get<0>(flash_attention(q, k, k, fixed, {}, dropout));
}
Values attention_of(const Tensor& q, const std::optional<Tensor>& fixed = {}) {
  return values(attention(q, q, 0.5f, fixed));
}

TEST(RandomSeed, AttentionAndRecurrentLayersDrawToo) {
  const Tensor q = gaussian({1, 8, 2, 4}, 0, 1, 3);
  seed(1);
  const Values first = attention_of(q), second = attention_of(q);
  EXPECT_NE(first, second);
  seed(1);
  EXPECT_EQ(attention_of(q), first);
  const Tensor fixed = Tensor::from<int64_t>({4, 9}, {2});
  EXPECT_EQ(attention_of(q, fixed), attention_of(q, fixed));
  EXPECT_EQ(values(attention(q, q, 0)), values(attention(q, q, 0)));
  EXPECT_EQ(rng_state(), (RngState{.seed = 1, .draws = 1}));
  const Tensor x = gaussian({3, 2, 4}, 0, 1, 3), h = full({2, 2, 4}, 0.0);
  TensorList weights;
  for (int i = 0; i < 8; ++i) weights.push_back(gaussian(i < 4 ? Dims{12, 4} : Dims{12}, 0, 1, i));
  const auto recurrent = [&](std::optional<int> given) {
    return values(std::get<0>(gru(x, h, weights, {}, 0.5f, false, 2, given)));
  };
  EXPECT_NE(recurrent({}), recurrent({}));
  EXPECT_EQ(recurrent(0), recurrent(0));
}

TEST(RandomSeed, BackwardUsesTheMaskOfItsForward) {
  Tensor x = full({64}, 1.0);
  x.set_requires_grad();
  const Tensor first = dropout(x), second = dropout(x);
  gaussian({3});
  sum(second).backward();
  EXPECT_EQ(values(x.grad()), values(second));
  EXPECT_NE(values(first), values(second));
  Tensor q = gaussian({1, 8, 2, 4}, 0, 1, 3), k = gaussian({1, 8, 2, 4}, 0, 1, 4);
  q.set_requires_grad();
  seed(2);
  const auto gradient = [&] {
    q.clear_grad();
    sum(square(attention(q, k, 0.5f))).backward();
    return values(q.grad());
  };
  const Values drawn = gradient();
  EXPECT_NE(gradient(), drawn);
  seed(2);
  EXPECT_EQ(gradient(), drawn);
}

TEST(RandomSeed, RecomputationDrawsAgainWhatTheCallDrew) {
  Tensor x = full({64}, 1.0);
  x.set_requires_grad();
  seed(3);
  const auto twice = [](const TensorList& in) { return dropout(dropout(in[0], {}, 0.3), {}, 0.3); };
  const Tensor y = recompute(twice, {x});
  const Values after = values(gaussian({3}));
  sum(y).backward();
  EXPECT_EQ(values(x.grad()), values(y));
  EXPECT_EQ(rng_state().draws, 3);
  set_rng_state({.seed = 3, .draws = 2});
  EXPECT_EQ(values(gaussian({3})), after);
}

// ---- ranks and meshes ----

TensorList drawn_on(const ProcessMesh& mesh, const std::vector<Placement>& placements) {
  const Tensor x = shard_tensor(halves({8, 6}), mesh, placements);
  const Tensor q = shard_tensor(gaussian({4, 8, 2, 4}, 0, 1, 3), mesh, placements);
  return {dropout(x), bernoulli(x), poisson(x), attention(q, q, 0.5f),
          shard_tensor(gaussian({8, 6}), mesh, placements)};
}

TEST(RandomSeed, EveryMeshDrawsTheNumbersOfOneProcess) {
  seed(8);
  const TensorList plain = {dropout(halves({8, 6})), bernoulli(halves({8, 6})),
                            poisson(halves({8, 6}))};
  const Tensor q = gaussian({4, 8, 2, 4}, 0, 1, 3);
  const Values attention = attention_of(q), last = values(gaussian({8, 6}));
  run_ranks(3, [&](distributed::World&) {
    for (const auto& placements :
         {std::vector<Placement>{Replicate()}, std::vector<Placement>{Shard(0)}}) {
      // Rank 2 is outside of the mesh.
      const ProcessMesh mesh({2}, {"x"}, {0, 1});
      seed(8);
      const TensorList drawn = drawn_on(mesh, placements);
      EXPECT_EQ(rng_state(), (RngState{.seed = 8, .draws = 5}));
      const bool here = mesh.contains(distributed::rank());
      for (size_t i = 0; i < drawn.size(); ++i) {
        const Tensor whole = distributed::reshard(drawn[i], mesh, {});
        if (!here) continue;
        const Values expected = i < 3 ? values(plain[i]) : i == 3 ? attention : last;
        if (i == 3) {
          const Values got = values(whole.local());
          for (size_t k = 0; k < got.size(); ++k) EXPECT_NEAR(got[k], expected[k], 1e-5);
        } else {
          EXPECT_EQ(values(whole.local()), expected) << i;
        }
      }
    }
  });
}

TEST(RandomSeed, ADryRunDrawsAsARealOne) {
  distributed::DryWorld world(1, 4);
  const distributed::World::Scope scope(world);
  seed(4);
  gaussian({8});
  dropout(shard_tensor(halves({8, 6}), ProcessMesh({2}, {"x"}, {2, 3}), {Shard(0)}));
  EXPECT_EQ(rng_state(), (RngState{.seed = 4, .draws = 2}));
}

TEST(RandomSeed, RanksThatAreSeededOtherwiseAreTold) {
  const auto exchange_after = [](const std::function<void(int64_t)>& draw) {
    run_ranks(2, [&](distributed::World& world) {
      draw(world.rank());
      const ProcessMesh mesh({2}, {"x"});
      gathered_everywhere(shard_tensor(full({4}, 1.0), mesh, {Shard(0)}));
    });
  };
  exchange_after([](int64_t) { seed(3); });
  const auto told = [&](const std::function<void(int64_t)>& draw) {
    try {
      exchange_after(draw);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), ErrorCode::kInvalidArgument);
      return std::string(error.what());
    }
    return std::string("nothing");
  };
  EXPECT_THAT(told([](int64_t rank) { seed(7 + rank); }),
              AllOf(AnyOf(HasSubstr("seed 7 and 8"), HasSubstr("seed 8 and 7")),
                    HasSubstr("pass the same number to seed()")));
  EXPECT_THAT(told([](int64_t rank) {
                if (rank == 1) gaussian({3});
              }),
              HasSubstr("draws without a seed"));
  exchange_after([](int64_t rank) {
    if (rank == 1) gaussian({3}, 0, 1, 5);
  });
}

TEST(RandomSeed, RanksGoOnFromWhatWasSeededBeforeTheirWorld) {
  seed(21);
  gaussian({3});
  run_ranks(
      2, [](distributed::World&) { EXPECT_EQ(rng_state(), (RngState{.seed = 21, .draws = 1})); });
}

// ---- programs ----

TEST(RandomSeed, ProgramsDrawAnewInEachRunAsCallsDo) {
  const auto f = [](const TensorList& in) {
    const Tensor noise = gaussian({64});
    return TensorList{dropout(in[0]), add(noise, in[0]),
                      recompute([](const TensorList& x) { return dropout(x[0]); }, {in[0]}),
                      gaussian({3}, 0, 1, 7)};
  };
  const Tensor x = halves();
  const RngState before = rng_state();
  const Program program = capture(f, {x});
  EXPECT_EQ(rng_state(), before);  // the capture itself draws nothing
  seed(9);
  std::vector<Values> eager;
  for (int run = 0; run < 2; ++run) {
    for (const Tensor& out : f({x})) eager.push_back(values(out));
  }
  seed(9);
  std::vector<Values> run;
  for (int i = 0; i < 2; ++i) {
    for (const Tensor& out : program.run({x})) run.push_back(values(out));
  }
  EXPECT_EQ(run, eager);
  EXPECT_NE(run[0], run[4]);
  EXPECT_EQ(run[3], run[7]);
  EXPECT_EQ(rng_state(), (RngState{.seed = 9, .draws = 6}));
}

TEST(RandomSeed, ProgramsDrawByTheMicroBatchThatTheyRunIn) {
  const auto f = [](const TensorList& in) { return TensorList{dropout(in[0]), gaussian({8})}; };
  const auto drawn_in = [](uint64_t number, const auto& call) {
    const Generator::Scope pass(RankContext::current().generator(), state_in_pass(9, number));
    std::vector<Values> out;
    for (int i = 0; i < 2; ++i) {
      for (const Tensor& x : call({halves()})) out.push_back(values(x));
    }
    return out;
  };
  std::optional<Program> program;
  const auto run = [&](const TensorList& in) {
    if (!program) program = capture(f, in);
    return program->run(in);
  };
  for (const uint64_t number : {4, 5}) EXPECT_EQ(drawn_in(number, run), drawn_in(number, f));
  EXPECT_NE(drawn_in(4, run), drawn_in(5, run));
}

TEST(RandomSeed, GradientsOfAProgramUseItsMasks) {
  Tensor w = full({64}, 1.0);
  w.set_requires_grad();
  const auto f = [](const TensorList& in) {
    const Tensor y = recompute([](const TensorList& x) { return dropout(dropout(x[0])); }, {in[0]});
    return TensorList{y, grad({sum(y)}, {in[0]})[0]};
  };
  const Program program = capture(f, {w});
  for (int run = 0; run < 2; ++run) {
    const TensorList out = program.run({w});
    EXPECT_EQ(values(out[0]), values(out[1]));
  }
}

TEST(RandomSeed, AScanAndAnExportSayThatTheyNeedTheSeed) {
  const std::vector<TensorList> layers(2, TensorList{halves()});
  const auto body = [](const Tensor& x, const TensorList& w) { return multiply(dropout(x), w[0]); };
  EXPECT_THAT(
      [&] {
        capture([&](const TensorList& in) { return TensorList{scan(body, in[0], layers)}; },
                {halves()});
      },
      ThrowsError(ErrorCode::kUnimplemented, "leaves a seed out"));
  const Program program =
      capture([](const TensorList& in) { return TensorList{dropout(in[0])}; }, {halves()});
  EXPECT_THAT([&] { program.to_stablehlo(); },
              ThrowsError(ErrorCode::kUnimplemented, "'dropout' without a seed"));
}

TEST(RandomSeed, NegativeStatesAreRefused) {
  EXPECT_THAT([] { seed(-1); }, ThrowsError(ErrorCode::kInvalidArgument, "seed -1"));
  EXPECT_THAT([] { set_rng_state({.seed = 1, .draws = -1}); },
              ThrowsError(ErrorCode::kInvalidArgument, "after -1 draws"));
}

}  // namespace
}  // namespace phi
