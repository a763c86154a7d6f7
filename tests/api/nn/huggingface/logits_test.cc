// Logits of folders that transformers wrote are those that transformers makes of them
// (record_models.py), to within 1e-5 in float32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/nn/checkpoint.h"
#include "api/nn/huggingface/folder.h"
#include "api/nn/layout/shard.h"
#include "api/nn/models/decoder.h"
#include "api/tensor/checkpoint.h"
#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"

namespace phi::nn::huggingface {
namespace {

namespace checkpoint = distributed::checkpoint;

class RecordedModel : public ::testing::TestWithParam<const char*> {
 protected:
  Tensor recorded(const char* name) const {
    return checkpoint::deferred(checkpoint::open(data_ + GetParam() + "_logits.safetensors"), name);
  }
  // The largest of them.
  float difference(const std::vector<float>& found) const {
    const auto expected = recorded("logits").to_vector<float>();
    if (found.size() != expected.size()) return INFINITY;
    float largest = 0;
    for (size_t i = 0; i < found.size(); ++i) {
      largest = std::max(largest, std::abs(found[i] - expected[i]));
    }
    return largest;
  }

  const std::string data_ = AUTOPHI_SOURCE_DIR "/tests/api/nn/huggingface/data/";
};

TEST_P(RecordedModel, HasTheLogitsOfTransformers) {
  const Folder folder = open(data_ + GetParam());
  const auto model = models::make(folder.config.model);
  model->set_training(false);  // the GPT-2 was trained with dropout
  load(folder.weights, model.get());
  const auto found = (*model)(recorded("ids")).to_vector<float>();
  RecordProperty("largest_difference", std::to_string(difference(found)));
  EXPECT_LE(difference(found), 1e-5f);
}

TEST_P(RecordedModel, HasThemOnEveryMesh) {
  const std::pair<std::vector<int64_t>, std::vector<std::string>> meshes[] = {
      {{2}, {"tp"}}, {{2}, {"pp"}}, {{2, 2}, {"dp", "tp"}}};
  for (const auto& [shape, dims] : meshes) {
    int ranks = 1;
    for (int64_t extent : shape) ranks *= static_cast<int>(extent);
    distributed::run_ranks(ranks, [&, &s = shape, &d = dims](distributed::World&) {
      const Folder folder = open(data_ + GetParam());
      const auto model = models::make(folder.config.model);
      model->set_training(false);
      const distributed::ProcessMesh mesh(s, d);
      shard(*model, mesh, transformer_layout(*model, mesh));
      load(folder.weights, model.get());
      const Tensor logits = distributed::gathered_everywhere((*model)(recorded("ids")));
      EXPECT_LE(difference(logits.to_vector<float>()), 1e-5f) << mesh.to_string();
    });
  }
}

INSTANTIATE_TEST_SUITE_P(Architectures, RecordedModel,
                         ::testing::Values("gpt2", "llama", "mistral", "qwen2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace phi::nn::huggingface
