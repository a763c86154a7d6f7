// The generator against a model that reads its whole window anew for each byte.
#include "tools/job/generator.h"

#include <gtest/gtest.h>

#include "phi/api.h"
#include "support/error_matchers.h"
#include "tools/job/sampler.h"

namespace phi::job {
namespace {

JobConfig config_of(const std::string& generate, const std::string& model = "") {
  return parse_job("mode: generate\nmodel: {seq_len: 8, d_model: 16, layers: 2, heads: 2" + model +
                       "}\ngenerate: {" + generate + "}",
                   "job.yaml");
}

const distributed::ProcessMesh& one() {
  static const distributed::ProcessMesh mesh({1}, {"dp"});
  return mesh;
}

std::string generated(const JobConfig& config, const Decoder& model) {
  Generator generator(config, one(), model);
  std::string text;
  for (int64_t i = 0; i < config.generate.tokens; ++i) text += generator.next();
  return text;
}

// `begins[i]`: where the window of byte i begins, counted in the text with its prompt.
std::string expected_text(const JobConfig& config, const Decoder& model, std::string text,
                          const std::vector<size_t>& begins) {
  const size_t start = text.size();
  for (size_t begin : begins) {
    std::vector<int64_t> ids;
    for (char byte : text.substr(begin)) ids.push_back(static_cast<uint8_t>(byte));
    const Tensor logits =
        model.next_logits(Tensor::from<int64_t>(ids, {1, static_cast<int64_t>(ids.size())}));
    const auto bytes = distributed::reshard(logits, one(), {}).values<float>().first(256);
    text += static_cast<char>(sample(bytes, config.generate, static_cast<int64_t>(text.size())));
  }
  return text.substr(start);
}

TEST(Generator, GoesOnFromTheLastHalfWindow) {
  // Eight positions: when they are full, the last four bytes begin the next window.
  for (const char* options :
       {"prompt: hello, tokens: 12, temperature: 0.0", "prompt: hello, tokens: 12, seed: 4"}) {
    const JobConfig config = config_of(options);
    const Decoder model(config.model, config.run, one());
    EXPECT_EQ(generated(config, model),
              expected_text(config, model, "hello", {0, 0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10}));
  }
}

TEST(Generator, AFullPromptAndAnEmptyOne) {
  const JobConfig full = config_of("prompt: 12345678, tokens: 2");
  const Decoder model(full.model, full.run, one());
  EXPECT_EQ(generated(full, model), expected_text(full, model, "12345678", {0, 5}));
  const JobConfig empty = config_of("tokens: 3");
  EXPECT_EQ(generated(empty, model), expected_text(empty, model, "\n", {0, 0, 0}));
}

TEST(Generator, AWindowOfOnePosition) {
  const JobConfig config = parse_job(
      "model: {seq_len: 1, d_model: 16, layers: 1, heads: 2}\ngenerate: {tokens: 3}", "job.yaml");
  const Decoder model(config.model, config.run, one());
  EXPECT_EQ(generated(config, model), expected_text(config, model, "\n", {0, 1, 2}));
}

TEST(Generator, ChoosesBytesOnlyWhateverTheVocab) {
  const JobConfig config = config_of("tokens: 3, temperature: 100.0", ", vocab: 40000");
  const Decoder model(config.model, config.run, one());
  EXPECT_EQ(generated(config, model), expected_text(config, model, "\n", {0, 0, 0}));
}

TEST(SettleGenerate, DropsNothingHoweverTheModelWasTrained) {
  JobConfig config = config_of("tokens: 3", ", dropout: 0.5");
  settle_generate(&config);
  EXPECT_EQ(config.model.dropout, 0.0);
}

TEST(SettleGenerate, APromptThatDoesNotFitIsAnError) {
  JobConfig config = config_of("prompt: 123456789");
  EXPECT_THAT([&] { settle_generate(&config); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "job.yaml:3: key 'generate.prompt': the prompt has 9 bytes and the model "
                          "sees 8 (model.seq_len)"));
}

}  // namespace
}  // namespace phi::job
