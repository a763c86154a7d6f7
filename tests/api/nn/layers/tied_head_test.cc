// A head that takes the embedding's table: the gradient of both uses, on every mesh.
#include <gtest/gtest.h>

#include "api/generated/ops/all.h"
#include "api/nn/layout/shard.h"
#include "api/nn/loss.h"
#include "api/nn/models/decoder.h"
#include "api/training/trainer.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "phi/tensor_api.h"

namespace phi::nn {
namespace {

using distributed::ProcessMesh;

models::Gpt tied() {
  return models::Gpt({.vocab = 12,
                      .seq_len = 4,
                      .d_model = 8,
                      .layers = 2,
                      .heads = 2,
                      .hidden = 16,
                      .tied_head = true});
}

std::vector<training::Batch> batches(int64_t step) {
  std::vector<training::Batch> out;
  for (int64_t m = 0; m < 2; ++m) {
    std::vector<int64_t> ids;
    for (int64_t i = 0; i < 9; ++i) ids.push_back((i * i + 3 * m + 5 * step) % 12);
    const std::span<const int64_t> all(ids);
    out.push_back({Tensor::from(all.first(8), {2, 4}), Tensor::from(all.subspan(1), {2, 4, 1})});
  }
  return out;
}

// Losses of three steps, and the table behind them.
std::vector<double> trained(Layer& model) {
  training::Trainer trainer(model, cross_entropy,
                            {.optimizer = {.kind = training::OptimizerKind::kSgd},
                             .rate = {.peak = 0.5},
                             .micro_batches = 2});
  std::vector<double> out;
  trainer.on_step([&](int64_t, const auto& result) { out.push_back(result.loss); });
  trainer.run(3, batches);
  const Tensor& table = model.parameter_at("token_embedding");
  const Tensor whole = table.is_dist() ? distributed::gathered_everywhere(table) : table;
  for (float v : whole.to_vector<float>()) out.push_back(v);
  return out;
}

TEST(TiedHead, HasNoParameterOfItsOwn) {
  for (const auto& [name, value] : tied().named_parameters()) EXPECT_NE(name, "head");
}

TEST(TiedHead, TheGradientOfTheTableIsThatOfBothUses) {
  models::Gpt model = tied();
  for (Tensor parameter : model.parameters()) parameter.set_requires_grad();
  Tensor table = model.parameter_at("token_embedding");
  const training::Batch batch = batches(1)[0];
  cross_entropy(model(batch.inputs), batch.labels).backward();
  const auto given = table.grad().to_vector<float>();
  // Central differences in a few places, in float32.
  const auto values = table.to_vector<float>();
  constexpr float kStep = 2e-3f;
  for (const size_t at : {size_t{0}, size_t{17}, size_t{40}, size_t{95}}) {
    double losses[2];
    for (const int side : {0, 1}) {
      auto moved = values;
      moved[at] += side == 0 ? -kStep : kStep;
      model.fill([&](const std::string& name, const Tensor& now) {
        return name == "token_embedding" ? Tensor::from<float>(moved, {12, 8}) : now;
      });
      losses[side] = cross_entropy(model(batch.inputs), batch.labels).item();
    }
    EXPECT_NEAR(given[at], (losses[1] - losses[0]) / (2 * kStep), 1e-3) << at;
  }
}

TEST(TiedHead, TrainsTheSameOnEveryMesh) {
  models::Gpt plain = tied();
  const auto expected = trained(plain);
  const std::pair<std::vector<int64_t>, std::vector<std::string>> meshes[] = {
      {{2}, {"dp"}}, {{2}, {"tp"}}, {{2}, {"pp"}}, {{2, 2}, {"pp", "tp"}}};
  for (const auto& [shape, dims] : meshes) {
    int64_t ranks = 1;
    for (int64_t extent : shape) ranks *= extent;
    distributed::run_ranks(static_cast<int>(ranks), [&, &s = shape, &d = dims](auto&) {
      models::Gpt model = tied();
      const ProcessMesh mesh(s, d);
      shard(model, mesh, transformer_layout(model, mesh));
      const auto given = trained(model);
      ASSERT_EQ(given.size(), expected.size());
      for (size_t i = 0; i < given.size(); ++i) {
        EXPECT_NEAR(given[i], expected[i], 2e-6) << mesh.to_string() << ", number " << i;
      }
    });
  }
}

}  // namespace
}  // namespace phi::nn
