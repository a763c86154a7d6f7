// Rules of moves, diagonals and lists as rows of text: what the tensors are asked to be, what comes
// out, and what is refused.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <vector>

#include "distributed/spmd/rules/data_movement.h"
#include "phi/common/errors.h"

namespace phi::distributed {
namespace {

const ProcessMesh& mesh() {
  static const ProcessMesh mesh({2, 4}, {"dp", "tp"});
  return mesh;
}

/// "0 _" is Shard(0) on dp and whole on tp, "P" Partial(sum).
const TensorDistAttr* attr(std::string_view text) {
  const auto placement = [](char c) {
    return c == '_' ? Replicate() : c == 'P' ? Partial() : Shard(c - '0');
  };
  return TensorDistAttr::get(mesh(), {placement(text[0]), placement(text[2])});
}

// Not inlined: g++ 12 takes the unused entries of Dims for uninitialised reads.
[[gnu::noinline]] TensorSpec spec(const Dims& shape, std::string_view placements) {
  return {shape, attr(placements)};
}

using Texts = std::vector<std::string>;

struct Row {
  const char* what;
  SpmdRule rule;
  Texts inputs;
  Texts outputs;
};

void expect_all(const char* what, const char* side, const AttrList& got, const Texts& expected) {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < expected.size(); ++i) {
    EXPECT_EQ(got[i], attr(expected[i])) << what << ": " << side << " " << i << " is "
                                         << got[i]->to_string() << ", expected " << expected[i];
  }
}

TEST(DataMovementRules, WhatIsWorkedAlongIsWholeAndTheRestSplit) {
  const TensorSpec image = spec({8, 8, 4, 4}, "0 1");
  const std::vector<TensorSpec> columns = {spec({8, 1}, "0 _"), spec({1, 8}, "_ 1")};
  const std::vector<TensorSpec> lines = {spec({8}, "0 _"), spec({4}, "_ 0")};
  const std::vector<TensorSpec> rows = {spec({8, 4}, "0 1"), spec({8, 4}, "0 _")};
  const Row table[] = {
      {"flip", FlipInferSpmd(spec({8, 4}, "0 1"), {1}), {"0 _"}, {"0 _"}},
      {"flip of a sum", FlipInferSpmd(spec({8, 4}, "P 1"), {0}), {"P 1"}, {"P 1"}},
      {"reverse", ReverseInferSpmd(spec({8, 4}, "0 1"), {0}), {"_ 1"}, {"_ 1"}},
      {"repeat", RepeatInterleaveInferSpmd(spec({8, 4}, "0 1"), -1), {"0 _"}, {"0 _"}},
      {"crop", CropInferSpmd(spec({8, 4}, "0 1"), {-1, 2}, {0, 1}), {"0 _"}, {"0 _"}},
      {"unfold", TensorUnfoldInferSpmd(spec({8, 4}, "0 1"), 1), {"0 _"}, {"0 _"}},
      {"bits", ViewDtypeInferSpmd(spec({8, 4}, "0 1")), {"0 _"}, {"0 _"}},
      {"rows", ViewSliceInferSpmd(spec({8, 4}, "0 1")), {"_ 1"}, {"_ 1"}},
      {"pad3d",
       Pad3dInferSpmd(spec({8, 4, 4, 4, 4}, "0 4"), {1, 0, 0, 0, 0, 0}, "reflect", 0, "NCDHW"),
       {"0 _"},
       {"0 _"}},
      {"pad3d by one",
       Pad3dInferSpmd(spec({8, 4, 4, 4, 4}, "P 2"), {0, 1, 0, 0, 0, 0}, "constant", 1, "NCDHW"),
       {"_ 2"},
       {"_ 2"}},
      {"diagonal", DiagonalInferSpmd(spec({8, 4, 4}, "0 1"), 1, 2), {"0 _"}, {"0 _"}},
      {"diag_embed", DiagEmbedInferSpmd(spec({8, 4}, "0 1"), 0, 2), {"0 _"}, {"1 _"}},
      {"fill",
       FillDiagonalTensorInferSpmd(spec({4, 4, 8}, "2 _"), spec({8, 4}, "_ _"), 0, 1),
       {"2 _", "0 _"},
       {"2 _"}},
      {"broadcast", BroadcastTensorsInferSpmd(columns), {"0 _", "_ 1"}, {"0 1", "0 1"}},
      {"meshgrid", MeshgridInferSpmd(lines), {"0 _", "_ 0"}, {"0 1", "0 1"}},
      {"multiplex", MultiplexInferSpmd(rows, spec({8, 1}, "_ _")), {"0 1", "0 1", "0 _"}, {"0 1"}},
      {"columns", PartialColumnsInferSpmd(rows), {"0 _", "0 _"}, {"0 _"}},
      {"channels", ChannelShuffleInferSpmd(image, "NCHW"), {"0 _"}, {"0 _"}},
      {"pixels", PixelShuffleInferSpmd(spec({8, 16, 4, 4}, "0 1"), 2, "NCHW"), {"0 1"}, {"0 1"}},
      {"too few channels", PixelShuffleInferSpmd(image, 2, "NCHW"), {"0 _"}, {"0 _"}},
      {"pixels back", PixelUnshuffleInferSpmd(image, 2, "NCHW"), {"0 1"}, {"0 1"}},
      {"segments", TemporalShiftInferSpmd(spec({8, 4, 4, 4}, "0 1"), 4), {"0 1"}, {"0 1"}},
      {"one segment", TemporalShiftInferSpmd(spec({8, 4, 4, 4}, "0 1"), 8), {"_ 1"}, {"_ 1"}},
      {"shape", ShapeInferSpmd(spec({8, 4}, "0 1")), {"0 1"}, {"_ _"}},
      {"numel", NumelInferSpmd(spec({8, 4}, "0 1")), {"0 1"}, {"_ _"}},
      {"batch", FullBatchSizeLikeInferSpmd(spec({8, 4}, "0 1"), {3, -1}, 0, 1), {"0 1"}, {"1 _"}},
  };
  for (const Row& row : table) {
    const SpmdResult result = row.rule.forward();
    expect_all(row.what, "input", result.inputs, row.inputs);
    expect_all(row.what, "output", result.outputs, row.outputs);
  }
}

TEST(DataMovementRules, GradientsLieAsTheTensorDoes) {
  const TensorSpec volume = spec({8, 4, 4, 4, 4}, "0 _");
  const Row table[] = {
      {"pad3d",
       Pad3dGradInferSpmd(volume, spec({8, 4, 4, 4, 5}, "0 1"), {1, 0, 0, 0, 0, 0}, "NCDHW"),
       {"0 1", "0 1"},
       {"0 1"}},
      {"unfold",
       TensorUnfoldGradInferSpmd(spec({8, 4}, "0 _"), spec({8, 3, 2}, "0 1"), 1),
       {"0 _", "0 _"},
       {"0 _"}},
      {"diagonal",
       DiagonalGradInferSpmd(spec({8, 4, 4}, "0 _"), spec({8, 4}, "0 1"), 1, 2),
       {"0 _", "0 _"},
       {"0 _"}},
  };
  for (const Row& row : table) {
    const SpmdResult result = row.rule.forward();
    expect_all(row.what, "input", result.inputs, row.inputs);
    expect_all(row.what, "output", result.outputs, row.outputs);
  }
}

TEST(DataMovementRules, RefusalsSayWhatIsWrong) {
  const TensorSpec x = spec({8, 4}, "_ _");
  const std::pair<std::function<void()>, const char*> rows[] = {
      {[&] { FlipInferSpmd(x, {2}); }, "axis is 2"},
      {[&] { CropInferSpmd(x, {2}, {0}); }, "shape [2] and offsets [0] are given for [8,4]"},
      {[&] { Pad3dInferSpmd(x, {0}, "constant", 0, "NCDHW"); }, "5 dims and 6 are needed"},
      {[&] { ChannelShuffleInferSpmd(x, "NCHW"); }, "x is [8,4]; images have 4 dims"},
      {[&] { MultiplexInferSpmd({}, x); }, "inputs has no rows to choose from"},
      {[&] { TemporalShiftInferSpmd(x, 0); }, "does not consist of segments of 0 frames"},
  };
  for (const auto& [call, says] : rows) {
    try {
      call();
      ADD_FAILURE() << says;
    } catch (const Error& error) {
      EXPECT_NE(std::string(error.what()).find(says), std::string::npos) << error.what();
    }
  }
}

}  // namespace
}  // namespace phi::distributed
