// Rules of gradients as rows of text: what the tensors are asked to be and what comes out.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "distributed/spmd/rules.h"

namespace phi::distributed {
namespace {

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

/// "0 _" is Shard(0) on dp and whole on tp, "P" Partial(sum); "0 0" splits first over dp.
const TensorDistAttr* attr(std::string_view text) {
  const auto placement = [&](char c, int order) {
    return c == '_' ? Replicate() : c == 'P' ? Partial() : Shard(c - '0', order);
  };
  return TensorDistAttr::get(
      mesh(), {placement(text[0], 0), placement(text[2], text[0] == text[2] ? 1 : 0)});
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] TensorSpec spec(const Dims& shape, std::string_view placements) {
  return {shape, attr(placements)};
}

using Texts = std::vector<std::string>;

/// What rule(inputs placed as `given`) asks for and answers.
void expect_rule(const std::string& what, const SpmdRule& rule, const Texts& inputs,
                 const Texts& outputs) {
  const SpmdResult r = rule.forward();
  const auto expect = [&](const char* side, const auto& got, const Texts& expected) {
    ASSERT_EQ(got.size(), expected.size()) << what;
    for (size_t i = 0; i < expected.size(); ++i) {
      const TensorDistAttr* wanted = expected[i] == "absent" ? nullptr : attr(expected[i]);
      EXPECT_EQ(got[i], wanted) << what << ": " << side << " " << i << " is "
                                << (got[i] ? got[i]->to_string() : "absent") << ", expected "
                                << expected[i];
    }
  };
  expect("input", r.inputs, inputs);
  expect("output", r.outputs, outputs);
}

TEST(MatmulGradRule, PlacementsOfTraining) {
  struct Row {
    const char* what;
    Texts given;  // x [8, 16, 32], y [32, 64], out_grad [8, 16, 64]
    Texts inputs;
    Texts outputs;
  };
  const Row rows[] = {
      {"column-parallel", {"0 _", "_ 1", "0 2"}, {"0 _", "_ 1", "0 2"}, {"0 P", "P 1"}},
      {"row-parallel", {"0 2", "_ 0", "0 _"}, {"0 2", "_ 0", "0 _"}, {"0 2", "P 0"}},
      {"row-parallel, out_grad still partial",
       {"_ 2", "_ 0", "_ P"},
       {"_ 2", "_ 0", "_ _"},
       {"_ 2", "_ 0"}},
      {"data-parallel", {"0 _", "_ _", "0 _"}, {"0 _", "_ _", "0 _"}, {"0 _", "P _"}},
      {"ZeRO-3 by rows", {"0 _", "0 _", "0 _"}, {"0 _", "_ _", "0 _"}, {"0 _", "P _"}},
      {"ZeRO-3 by columns", {"0 _", "1 _", "0 _"}, {"0 _", "_ _", "0 _"}, {"0 _", "P _"}},
      {"ZeRO-3, whole x", {"_ _", "0 _", "0 _"}, {"0 _", "_ _", "0 _"}, {"0 _", "P _"}},
      {"ZeRO-3, whole out_grad", {"0 _", "0 _", "_ _"}, {"0 _", "_ _", "0 _"}, {"0 _", "P _"}},
      {"ZeRO-3 with tensor parallelism",
       {"0 _", "0 1", "0 2"},
       {"0 _", "_ 1", "0 2"},
       {"0 P", "P 1"}},
      {"column-parallel, x split by sequence",
       {"_ 1", "_ 1", "_ 2"},
       {"_ _", "_ 1", "_ 2"},
       {"_ P", "_ 1"}},
      {"row-parallel, out_grad split by sequence",
       {"_ 2", "_ 0", "_ 1"},
       {"_ 2", "_ 0", "_ _"},
       {"_ 2", "_ 0"}},
  };
  for (const Row& row : rows) {
    const auto rule =
        MatmulGradInferSpmd(spec({8, 16, 32}, row.given[0]), spec({32, 64}, row.given[1]),
                            spec({8, 16, 64}, row.given[2]), false, false);
    expect_rule(row.what, rule, row.inputs, row.outputs);
  }
}

TEST(MatmulGradRule, TransposedTiedAndBroadcast) {
  expect_rule("tied embedding: y [64, 32] transposed, vocabulary on tp",
              MatmulGradInferSpmd(spec({8, 16, 32}, "0 _"), spec({64, 32}, "_ 0"),
                                  spec({8, 16, 64}, "0 2"), false, true),
              {"0 _", "_ 0", "0 2"}, {"0 P", "P 0"});
  expect_rule("x transposed",
              MatmulGradInferSpmd(spec({32, 16}, "1 0"), spec({32, 64}, "_ 0"),
                                  spec({16, 64}, "0 _"), true, false),
              {"1 0", "_ 0", "0 _"}, {"1 0", "P 0"});
  expect_rule("attention scores by batch and head",
              MatmulGradInferSpmd(spec({8, 4, 16, 32}, "0 1"), spec({8, 4, 16, 32}, "0 1"),
                                  spec({8, 4, 16, 16}, "0 1"), false, true),
              {"0 1", "0 1", "0 1"}, {"0 1", "0 1"});
  expect_rule("y is broadcast in a split batch",
              MatmulGradInferSpmd(spec({8, 16, 32}, "0 _"), spec({1, 32, 64}, "_ _"),
                                  spec({8, 16, 64}, "0 _"), false, false),
              {"0 _", "_ _", "0 _"}, {"0 _", "P _"});
  expect_rule(
      "vectors",
      MatmulGradInferSpmd(spec({32}, "_ 0"), spec({32}, "_ _"), spec({}, "_ _"), false, false),
      {"_ 0", "_ 0", "_ _"}, {"_ 0", "_ 0"});
}

TEST(ReduceAsRule, SplitDimsThatGoMakeItPartial) {
  const Dims x{8, 16, 32};
  expect_rule("bias", ReduceAsInferSpmd(spec(x, "0 2"), spec({32}, "_ _")), {"0 2", "_ 0"},
              {"P 0"});
  expect_rule("target's own split is ignored", ReduceAsInferSpmd(spec(x, "0 _"), spec({32}, "_ 0")),
              {"0 _", "_ _"}, {"P _"});
  expect_rule("kept as 1", ReduceAsInferSpmd(spec(x, "0 1"), spec({8, 1, 32}, "_ _")),
              {"0 1", "0 _"}, {"0 P"});
  expect_rule("a partial x stays", ReduceAsInferSpmd(spec(x, "0 P"), spec({32}, "_ _")),
              {"0 P", "_ _"}, {"P P"});
  expect_rule("a partial target is only a shape",
              ReduceAsInferSpmd(spec(x, "0 _"), spec({8, 16, 32}, "_ P")), {"0 _", "0 _"}, {"0 _"});
}

TEST(ExpandAsRule, FollowsTheTarget) {
  expect_rule("new and grown tensor dims",
              ExpandAsInferSpmd(spec({1, 32}, "_ _"), spec({8, 16, 32}, "0 2")), {"_ 1", "0 2"},
              {"0 2"});
  expect_rule("x's own split is ignored",
              ExpandAsInferSpmd(spec({16, 32}, "0 1"), spec({8, 16, 32}, "0 _")), {"_ _", "0 _"},
              {"0 _"});
}

TEST(SquaredL2NormRule, ShardsMakeItPartial) {
  expect_rule("split", SquaredL2NormInferSpmd(spec({8, 16}, "0 1")), {"0 1"}, {"P P"});
  expect_rule("partial", SquaredL2NormInferSpmd(spec({8, 16}, "P _")), {"_ _"}, {"_ _"});
}

TEST(EmbeddingGradRule, PlacementsOfTraining) {
  struct Row {
    const char* what;
    Texts given;  // x [8, 16], weight [100, 32], out_grad [8, 16, 32]
    Texts inputs;
    Texts outputs;
  };
  const Row rows[] = {
      {"data-parallel", {"0 _", "_ _", "0 _"}, {"0 _", "_ _", "0 _"}, {"P _"}},
      {"vocabulary split", {"0 _", "_ 0", "0 _"}, {"0 _", "_ 0", "0 _"}, {"P 0"}},
      {"width split", {"0 _", "_ 1", "0 2"}, {"0 _", "_ 1", "0 2"}, {"P 1"}},
      {"ZeRO-3", {"0 _", "0 _", "0 _"}, {"0 _", "_ _", "0 _"}, {"P _"}},
      {"vocabulary split, out_grad split by sequence",
       {"0 _", "_ 0", "0 1"},
       {"0 _", "_ 0", "0 _"},
       {"P 0"}},
      {"partial out_grad", {"_ _", "_ 0", "_ P"}, {"_ _", "_ 0", "_ _"}, {"_ 0"}},
  };
  for (const Row& row : rows) {
    const auto rule =
        EmbeddingGradInferSpmd(spec({8, 16}, row.given[0]), spec({100, 32}, row.given[1]),
                               spec({8, 16, 32}, row.given[2]));
    expect_rule(row.what, rule, row.inputs, row.outputs);
  }
}

TEST(GatherGradRule, TheAxisIsWholeAndSplitIndicesArePartial) {
  expect_rule("split indices",
              GatherGradInferSpmd(spec({8, 16}, "_ 1"), spec({6}, "0 _"), spec({6, 16}, "_ _"), 0),
              {"_ 1", "0 _", "0 1"}, {"P 1"});
  expect_rule("the axis was split",
              GatherGradInferSpmd(spec({8, 16}, "0 1"), spec({}, "_ _"), spec({8}, "_ _"), -1),
              {"0 _", "_ _", "0 _"}, {"0 _"});
}

TEST(SoftmaxGradRule, TheAxisIsWhole) {
  expect_rule("rows split", SoftmaxGradInferSpmd(spec({8, 16}, "0 1"), spec({8, 16}, "P _"), -1),
              {"0 _", "0 _"}, {"0 _"});
  expect_rule("columns split", SoftmaxGradInferSpmd(spec({8, 16}, "_ 1"), spec({8, 16}, "0 _"), 0),
              {"_ 1", "_ 1"}, {"_ 1"});
}

TEST(SwiGLUGradRule, BothGradientsLieAlike) {
  const auto y = spec({8, 16}, "_ 1");
  expect_rule("two inputs", SwiGLUGradInferSpmd(spec({8, 16}, "0 1"), &y, spec({8, 16}, "P 1")),
              {"0 1", "0 1", "0 1"}, {"0 1", "0 1"});
  expect_rule("halves", SwiGLUGradInferSpmd(spec({8, 32}, "0 1"), nullptr, spec({8, 16}, "0 1")),
              {"0 _", "absent", "0 _"}, {"0 _", "absent"});
}

TEST(SliceGradRule, SlicedAxesAreWhole) {
  expect_rule("batch split, sequence sliced",
              SliceGradInferSpmd(spec({8, 16, 32}, "0 1"), spec({8, 4, 32}, "0 2"), {1}, {}),
              {"0 2", "0 2"}, {"0 2"});
  expect_rule("decreased",
              SliceGradInferSpmd(spec({8, 16, 32}, "0 1"), spec({8, 32}, "_ 1"), {1}, {1}),
              {"0 2", "0 1"}, {"0 2"});
}

TEST(DropoutGradRule, LiesAsOutGrad) {
  expect_rule("mask follows",
              ElementwiseUnaryGradInferSpmd(spec({8, 16}, "_ 1"), spec({8, 16}, "0 _")),
              {"0 _", "0 _"}, {"0 _"});
}

}  // namespace
}  // namespace phi::distributed
