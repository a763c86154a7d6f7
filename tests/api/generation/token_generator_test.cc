// The generator against a model that reads its whole window anew for each token.
#include "api/generation/token_generator.h"

#include <gtest/gtest.h>

#include "api/nn/models/decoder.h"
#include "phi/tensor_api.h"
#include "support/error_matchers.h"

namespace phi::generation {
namespace {

using Tokens = std::vector<int64_t>;

nn::models::Gpt model_of(int64_t seq_len, int64_t vocab = 256, double dropout = 0.0) {
  return nn::models::Gpt({.vocab = vocab,
                          .seq_len = seq_len,
                          .d_model = 16,
                          .layers = 2,
                          .heads = 2,
                          .hidden = 64,
                          .dropout = dropout});
}

GeneratorOptions options_of(const nn::models::Decoder& model, const SamplerOptions& sampling) {
  return {.window = model.seq_len(), .num_tokens = 256, .sampling = sampling};
}

Tokens generated(nn::Layer& model, const Tokens& prompt, const GeneratorOptions& options,
                 int64_t count) {
  TokenGenerator generator(model, prompt, options);
  Tokens tokens;
  for (int64_t i = 0; i < count; ++i) tokens.push_back(generator.next());
  return tokens;
}

// `begins[i]`: where the window of token i begins, counted from the prompt's first.
Tokens expected_tokens(const nn::Layer& model, const Tokens& prompt,
                       const GeneratorOptions& options, const std::vector<size_t>& begins) {
  Tokens tokens = prompt;
  for (size_t begin : begins) {
    const Tokens window(tokens.begin() + static_cast<int64_t>(begin), tokens.end());
    const Tensor logits =
        nn::next_logits(model, Tensor::from<int64_t>(window, {1, std::ssize(window)}));
    const auto chosen_from = logits.values<float>().first(256);
    tokens.push_back(sample(chosen_from, options.sampling, std::ssize(tokens)));
  }
  return {tokens.begin() + std::ssize(prompt), tokens.end()};
}

const Tokens kHello = {104, 101, 108, 108, 111};

TEST(TokenGenerator, GoesOnFromTheLastHalfWindow) {
  // Eight positions: when they are full, the last four tokens begin the next window.
  nn::models::Gpt model = model_of(8);
  for (const SamplerOptions& sampling :
       {SamplerOptions{.temperature = 0.0}, SamplerOptions{.seed = 4}}) {
    const GeneratorOptions options = options_of(model, sampling);
    EXPECT_EQ(generated(model, kHello, options, 12),
              expected_tokens(model, kHello, options, {0, 0, 0, 0, 5, 5, 5, 5, 5, 10, 10, 10}));
  }
}

// Half of an odd window is the smaller half. Among so many prompts one position more would show.
TEST(TokenGenerator, AnOddWindow) {
  nn::models::Gpt model = model_of(7);
  const GeneratorOptions options = options_of(model, {.temperature = 0.0});
  bool shows = false;
  for (int64_t first = 0; first < 20; ++first) {
    const Tokens prompt = {first, 7 * first + 1, 101, 13 * first % 256, 111};
    const Tokens tokens = generated(model, prompt, options, 9);
    EXPECT_EQ(tokens, expected_tokens(model, prompt, options, {0, 0, 0, 5, 5, 5, 5, 5, 10}));
    shows |= tokens != expected_tokens(model, prompt, options, {0, 0, 0, 4, 4, 4, 4, 8, 8});
  }
  EXPECT_TRUE(shows);
}

TEST(TokenGenerator, CapturedGivesTheSame) {
  nn::models::Gpt model = model_of(8);
  GeneratorOptions options = options_of(model, {.seed = 9});
  const Tokens expected = generated(model, kHello, options, 12);
  options.capture = true;
  EXPECT_EQ(generated(model, kHello, options, 12), expected);
}

TEST(TokenGenerator, AFullPrompt) {
  nn::models::Gpt model = model_of(8);
  const GeneratorOptions options = options_of(model, {});
  const Tokens full = {1, 2, 3, 4, 5, 6, 7, 8};
  EXPECT_EQ(generated(model, full, options, 2), expected_tokens(model, full, options, {0, 5}));
}

TEST(TokenGenerator, AWindowOfOnePosition) {
  nn::models::Gpt model = model_of(1);
  const GeneratorOptions options = options_of(model, {});
  EXPECT_EQ(generated(model, {10}, options, 3), expected_tokens(model, {10}, options, {0, 1, 2}));
}

TEST(TokenGenerator, ChoosesTheFirstTokensOnlyWhateverTheVocab) {
  nn::models::Gpt model = model_of(8, 40000);
  const GeneratorOptions options = options_of(model, {.temperature = 100.0});
  EXPECT_EQ(generated(model, {10}, options, 3), expected_tokens(model, {10}, options, {0, 0, 0}));
}

TEST(TokenGenerator, DropsNothingHoweverTheModelWasTrained) {
  nn::models::Gpt model = model_of(8, 256, 0.5);
  nn::models::Gpt without = model_of(8);
  const GeneratorOptions options = options_of(model, {});
  EXPECT_EQ(generated(model, kHello, options, 6), generated(without, kHello, options, 6));
}

TEST(TokenGenerator, APromptThatDoesNotFitIsAnError) {
  nn::models::Gpt model = model_of(8);
  for (const size_t length : {size_t{0}, size_t{9}}) {
    EXPECT_THAT([&] { TokenGenerator(model, Tokens(length, 1), options_of(model, {})); },
                ThrowsError(ErrorCode::kInvalidArgument,
                            "a prompt of " + std::to_string(length) +
                                " tokens for a model with a window of 8; pass 1 to 8."));
  }
}

TEST(TokenGenerator, NeedsAWindow) {
  nn::models::Gpt model = model_of(8);
  EXPECT_THAT([&] { TokenGenerator(model, kHello, {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "a window of 0 positions"));
}

}  // namespace
}  // namespace phi::generation
