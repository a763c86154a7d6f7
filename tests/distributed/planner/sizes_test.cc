// The planner's formulas against their published product forms, against each other and against
// simulated schedules; their errors. Published numbers: tests/figures.
#include <gtest/gtest.h>

#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/pipeline/schedules/peak_memory.h"
#include "distributed/planner/activation_bytes.h"
#include "distributed/planner/gpt_size.h"
#include "distributed/planner/model_states.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

const TransformerLayer kLayer = {.sequence = 2048, .micro_batch = 2, .hidden = 4096, .heads = 32};
const GptShape kShapes[] = {{24, 2304, 2048, 51200}, {96, 12288, 2048, 51200}, {2, 128, 32, 256}};

TEST(ModelStates, OneRankHoldsEverythingInEveryStage) {
  for (int stage = 0; stage < 4; ++stage) {
    EXPECT_EQ(model_state_bytes(1000, static_cast<ZeroStage>(stage), 1), 16000);
  }
}

TEST(ModelStates, OtherOptimizersHaveOtherBytes) {
  // float32 with momentum: nothing is kept twice.
  const StateBytes sgd = {.parameter = 4, .gradient = 4, .optimizer = 4};
  EXPECT_EQ(model_state_bytes(1000, ZeroStage::kOptimizer, 4, sgd), 9000);
}

TEST(ModelStates, WrongNumbersAreNamed) {
  EXPECT_THAT([] { model_state_bytes(1e9, ZeroStage::kNone, 0); },
              ThrowsError(ErrorCode::kInvalidArgument, "ranks is 0, must be >= 1"));
  EXPECT_THAT([] { model_state_bytes(-1, ZeroStage::kNone, 1); },
              ThrowsError(ErrorCode::kInvalidArgument, "parameters is -1, must be >= 0"));
}

TEST(ActivationBytes, WithoutParallelismTheSerialFormulaHolds) {
  const double sbh = 2048.0 * 2 * 4096;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(kLayer), sbh * (34 + 5.0 * 32 * 2048 / 4096));
  TransformerLayer selective = kLayer;
  selective.recompute = Recompute::kSelective;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(selective), 34 * sbh);
  // One rank splits nothing.
  selective.sequence_parallel = true;
  EXPECT_DOUBLE_EQ(layer_activation_bytes(selective), 34 * sbh);
}

TEST(ActivationBytes, TheFirstStageHoldsWhatItsScheduleHolds) {
  constexpr int64_t kLayers = 24;
  for (const int stages : {1, 2, 3, 4}) {
    for (const int chunks : {1, 2, 3}) {
      const auto schedule = pipeline::interleaved(stages, 4 * stages, chunks);
      const int held = pipeline::peak_micro_batches(schedule)[0].input;
      const double layers_per_chunk = static_cast<double>(kLayers) / (stages * chunks);
      EXPECT_NEAR(first_stage_activation_bytes(kLayer, kLayers, stages, chunks),
                  held * layers_per_chunk * layer_activation_bytes(kLayer), 1)
          << stages << " stages, " << chunks << " chunks";
    }
  }
}

TEST(ActivationBytes, WrongNumbersAreNamed) {
  TransformerLayer layer = kLayer;
  layer.tensor_parallel = 0;
  EXPECT_THAT([&] { layer_activation_bytes(layer); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "activation bytes: tensor_parallel is 0, must be >= 1"));
  EXPECT_THAT([&] { layer_activation_bytes({}); },
              ThrowsError(ErrorCode::kInvalidArgument, "sequence is 0"));
  EXPECT_THAT([&] { first_stage_activation_bytes(kLayer, 24, 4, 0); },
              ThrowsError(ErrorCode::kInvalidArgument, "chunks is 0"));
}

TEST(GptSize, EqualsThePublishedProducts) {
  constexpr double kBatch = 512;
  for (const GptShape& shape : kShapes) {
    const auto L = static_cast<double>(shape.layers);
    const auto h = static_cast<double>(shape.hidden);
    const auto s = static_cast<double>(shape.sequence);
    const auto V = static_cast<double>(shape.vocabulary);
    const double parameters = 12 * L * h * h * (1 + 13 / (12 * h) + (V + s) / (12 * L * h));
    const double model = 72 * kBatch * L * s * h * h * (1 + s / (6 * h) + V / (12 * h * L));
    const double recompute = 96 * kBatch * s * L * h * h * (1 + s / (6 * h) + V / (16 * L * h));
    EXPECT_NEAR(gpt_parameters(shape) / parameters, 1, 1e-12);
    EXPECT_NEAR(gpt_model_flops(shape, kBatch) / model, 1, 1e-12);
    EXPECT_NEAR(gpt_recompute_flops(shape, kBatch) / recompute, 1, 1e-12);
  }
}

TEST(GptSize, WrongNumbersAreNamed) {
  EXPECT_THAT([] { gpt_parameters({.layers = 0, .hidden = 8}); },
              ThrowsError(ErrorCode::kInvalidArgument, "gpt size: layers is 0, must be >= 1"));
  EXPECT_THAT([] { gpt_model_flops({.layers = 1, .hidden = 8}, -4); },
              ThrowsError(ErrorCode::kInvalidArgument, "batch is -4, must be >= 1"));
}

}  // namespace
}  // namespace phi::distributed
