// The oracle itself: its gradients against differences of its losses, its random numbers against
// published ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "support/oracle/model.h"
#include "support/oracle/philox.h"
#include "support/oracle/update.h"

namespace oracle {
namespace {

constexpr uint64_t kSeed = 11;
constexpr uint64_t kMicroBatch = 3;

ModelShape small(const std::string& kind) {
  ModelShape model;
  model.kind = kind;
  model.vocab = 13;
  model.seq_len = 5;
  model.d_model = 8;
  model.layers = 2;
  model.heads = 4;
  model.kv_heads = kind == "gpt" ? 4 : 2;
  model.mlp_ratio = 2;
  model.ffn = 12;
  return model;
}

Batch some_batch(const ModelShape& model) {
  Batch batch{.rows = 2, .seq_len = model.seq_len, .ids = {}, .labels = {}};
  for (uint64_t i = 0; i < static_cast<uint64_t>(batch.rows * batch.seq_len); ++i) {
    batch.ids.push_back(static_cast<int64_t>(split_mix(i) % 13));
    batch.labels.push_back(static_cast<int64_t>(split_mix(100 + i) % 13));
  }
  return batch;
}

// None of them zero, nor all alike.
Parameters some_parameters(const ModelShape& model) {
  Parameters parameters = initial_parameters(model);
  for (auto& [name, parameter] : parameters) {
    uint64_t e = 0;
    for (double& value : parameter.value.values) value += 0.3 * normal(hash(name, kSeed), e++);
  }
  return parameters;
}

// Every element of every parameter, by central differences.
void check_gradients(const ModelShape& model) {
  SCOPED_TRACE("seed " + std::to_string(kSeed));
  const Batch batch = some_batch(model);
  Parameters parameters = some_parameters(model);
  const auto loss = [&] {
    Tape tape;
    return loss_of(&tape, model, &parameters, batch, kMicroBatch)->value(0, 0);
  };
  Tape tape;
  tape.go_back(loss_of(&tape, model, &parameters, batch, kMicroBatch), 1.0);
  constexpr double kStep = 1e-5;
  for (auto& [name, parameter] : parameters) {
    for (size_t e = 0; e < parameter.value.values.size(); ++e) {
      double& value = parameter.value.values[e];
      const double at = value;
      value = at + kStep;
      const double above = loss();
      value = at - kStep;
      const double below = loss();
      value = at;
      EXPECT_NEAR(parameter.gradient.values[e], (above - below) / (2 * kStep), 1e-8)
          << name << " element " << e;
    }
  }
}

TEST(TrainingOracle, GradientsOfTheGptAreThoseOfItsLoss) { check_gradients(small("gpt")); }

TEST(TrainingOracle, GradientsOfTheGptWithDropoutAreThoseOfItsLoss) {
  ModelShape model = small("gpt");
  model.dropout = 0.3;
  check_gradients(model);
}

TEST(TrainingOracle, GradientsOfTheLlamaAreThoseOfItsLoss) { check_gradients(small("llama")); }

// Random123's known answers (kat_vectors).
TEST(TrainingOracle, PhiloxGivesThePublishedWords) {
  EXPECT_THAT(philox({0, 0, 0, 0}, {0, 0}),
              ::testing::ElementsAre(0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8));
  EXPECT_THAT(philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
              ::testing::ElementsAre(0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1));
}

TEST(TrainingOracle, OtherGeneratorsGiveThePublishedNumbers) {
  EXPECT_EQ(split_mix(0), 0xe220a8397b1dcdaf);
  // FNV-1a of "a" (draft-eastlake-fnv).
  EXPECT_EQ(hash("a", 0), 0xaf63dc4c8601ec8c);
}

TEST(TrainingOracle, DropoutDropsItsShareAndNormalNumbersAreNormal) {
  constexpr uint64_t kCount = 40000;
  double dropped = 0.0;
  double sum = 0.0;
  double squares = 0.0;
  for (uint64_t e = 0; e < kCount; ++e) {
    dropped += drops(kSeed, e, 0.25);
    const double z = normal(kSeed, e);
    sum += z;
    squares += z * z;
  }
  EXPECT_NEAR(dropped / kCount, 0.25, 0.01);
  EXPECT_NEAR(sum / kCount, 0.0, 0.02);
  EXPECT_NEAR(squares / kCount, 1.0, 0.03);
}

}  // namespace
}  // namespace oracle
