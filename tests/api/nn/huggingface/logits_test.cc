// Logits of folders that transformers wrote are those that transformers makes of them
// (record_models.py), to within 1e-5 in float32.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "api/nn/huggingface/folder.h"
#include "api/tensor/checkpoint.h"
#include "model_logits.h"

namespace phi::nn::huggingface {
namespace {

namespace checkpoint = distributed::checkpoint;

class RecordedModel : public ::testing::TestWithParam<const char*> {
 protected:
  const std::string data_ = AUTOPHI_SOURCE_DIR "/tests/api/nn/huggingface/data/";
};

TEST_P(RecordedModel, HasTheLogitsOfTransformers) {
  const Folder folder = open(data_ + GetParam());
  const auto recorded = checkpoint::open(data_ + GetParam() + "_logits.safetensors");
  const Tensor ids = checkpoint::deferred(recorded, "ids");
  const Tensor logits = model_logits(folder.config.model, folder.weights, ids);
  ASSERT_EQ(logits.meta(), recorded.meta("logits"));
  const auto found = logits.to_vector<float>();
  const auto expected = checkpoint::deferred(recorded, "logits").to_vector<float>();
  float largest = 0;
  for (size_t i = 0; i < found.size(); ++i) {
    largest = std::max(largest, std::abs(found[i] - expected[i]));
  }
  RecordProperty("largest_difference", std::to_string(largest));
  EXPECT_LE(largest, 1e-5f);
}

INSTANTIATE_TEST_SUITE_P(Architectures, RecordedModel,
                         ::testing::Values("gpt2", "llama", "mistral", "qwen2"),
                         [](const auto& info) { return std::string(info.param); });

}  // namespace
}  // namespace phi::nn::huggingface
