// Arguments that rules refuse, without their operators.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>

#include "distributed/spmd/rules.h"
#include "tests/support/error_matchers.h"

namespace phi::distributed {
namespace {

TensorSpec spec(const Dims& shape) { return {shape, TensorDistAttr::replicated(ProcessMesh({2}))}; }

TEST(ProductRules, RefuseOtherNumbersOfDims) {
  EXPECT_THAT(
      [] {
        AddmmInferSpmd(spec({2, 2, 2}), spec({2, 2}), spec({2, 2}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "it has 2 dims at most"));
  EXPECT_THAT(
      [] {
        AddmmInferSpmd(spec({2, 2}), spec({2}), spec({2, 2}));
      },
      ThrowsError(ErrorCode::kInvalidArgument, "both have 2 dims"));
}

TEST(SignalRules, RefuseTensorsWithoutASignal) {
  EXPECT_THAT([] { FrameInferSpmd(spec({}), -1); },
              ThrowsError(ErrorCode::kInvalidArgument, "a signal has 1, frames have 2"));
}

TEST(DataMovementRules, RefusalsSayWhatIsWrong) {
  const TensorSpec x = spec({8, 4});
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

TEST(EinsumRule, RefusesWhatIsNoEquation) {
  const ProcessMesh mesh(std::vector<int64_t>{2});
  const auto* whole = TensorDistAttr::replicated(mesh);
  const std::vector<TensorSpec> x{{{4, 4}, whole}};
  for (const char* equation : {"ij,jk->ik", "i->i", "ij->k", "i.j->i", "ij->ii", "i1->i"}) {
    EXPECT_THROW(EinsumInferSpmd(x, equation), Error) << equation;
  }
  EXPECT_NO_THROW(EinsumInferSpmd(x, "...j -> ...").forward());
  EXPECT_EQ(EinsumInferSpmd(x, "ba").forward().outputs[0], whole);  // the letters, sorted
}

}  // namespace
}  // namespace phi::distributed
