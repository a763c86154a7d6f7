// Generates tokens with a cache, captured or not.
#include "api/generation/token_generator.h"

#include <algorithm>
#include <utility>

#include "api/generated/ops/full.h"
#include "api/generated/ops/slice.h"
#include "api/nn/apply_placements.h"
#include "api/nn/layout/shard.h"
#include "distributed/api.h"
#include "phi/common/errors.h"

namespace phi::generation {
namespace {

const GeneratorOptions& checked(const GeneratorOptions& options) {
  PHI_CHECK(options.window >= 1,
            errors::InvalidArgument(
                "a window of {} positions; pass the number of positions that the model attends to.",
                options.window));
  return options;
}

std::vector<int64_t> checked(std::vector<int64_t> prompt, int64_t window) {
  const auto length = std::ssize(prompt);
  PHI_CHECK(length >= 1 && length <= window,
            errors::InvalidArgument(
                "a prompt of {} tokens for a model with a window of {}; pass 1 to {}.", length,
                window, window));
  return prompt;
}

}  // namespace

TokenGenerator::TokenGenerator(nn::Layer& model, std::vector<int64_t> prompt,
                               const GeneratorOptions& options)
    : model_(model),
      options_(checked(options)),
      cache_(model, /*batch=*/1, options.window),
      tokens_(checked(std::move(prompt), options.window)) {
  model.set_training(false);
}

int64_t TokenGenerator::next() {
  const Tensor logits = logits_after(unread());
  const auto position = std::ssize(tokens_);
  tokens_.push_back(sample(logits.to_vector<float>(), options_.sampling, position));
  return tokens_.back();
}

Tensor TokenGenerator::logits_after(const std::vector<int64_t>& ids) {
  if (options_.capture) {
    Tensor logits;
    for (const int64_t id : ids) logits = run_captured(id);
    return logits;
  }
  const auto count = std::ssize(ids);
  Tensor logits =
      run({Tensor::from<int64_t>(ids, {1, count}), full({1}, cache_.length(), DataType::INT64)})[0];
  cache_.advance(count);
  return logits;
}

// Sends the logits of one position to every rank; all ranks then sample the same token.
TensorList TokenGenerator::run(const TensorList& inputs) {
  const nn::Sharding* sharding = model_.sharding();
  const Tensor ids = nn::apply_placements(inputs[0], sharding ? sharding->inputs : nullptr);
  Tensor logits = nn::logits_after(model_, ids, inputs[1], &cache_);
  if (options_.num_tokens > 0) logits = slice(logits, {2}, {0}, {options_.num_tokens});
  return {sharding ? distributed::reshard(logits, sharding->mesh, {}) : logits};
}

Tensor TokenGenerator::run_captured(int64_t id) {
  const TensorList inputs = {full({1, 1}, id, DataType::INT64),
                             full({1}, cache_.length(), DataType::INT64)};
  if (!program_) {
    program_ = capture([this](const TensorList& in) { return run(in); }, inputs);
    program_->limit_memory(options_.memory);
    program_->use_graphs(options_.graphs);
  }
  cache_.advance(1);
  return program_->run(inputs)[0];
}

std::vector<int64_t> TokenGenerator::unread() {
  const auto window = static_cast<size_t>(options_.window);
  const auto held = static_cast<size_t>(cache_.length());
  if (held + tokens_.size() - read_ > window) {
    cache_.clear();
    read_ = tokens_.size() - std::max<size_t>(window / 2, 1);
  }
  const auto begin = tokens_.begin() + static_cast<int64_t>(std::exchange(read_, tokens_.size()));
  return {begin, tokens_.end()};
}

}  // namespace phi::generation
