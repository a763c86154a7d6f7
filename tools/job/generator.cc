// One byte after the other.
#include "tools/job/generator.h"

#include <algorithm>
#include <vector>

#include "phi/api.h"
#include "tools/job/memory_limits.h"
#include "tools/job/sampler.h"

namespace phi::job {
namespace {

constexpr int64_t kBytes = 256;  // the tokens that are text; a larger vocab has others beside them

}  // namespace

Generator::Generator(const JobConfig& config, const distributed::ProcessMesh& mesh,
                     const Decoder& model)
    : config_(config),
      mesh_(mesh),
      model_(model),
      cache_(model.make_cache(1)),
      text_(config.generate.prompt.empty() ? "\n" : config.generate.prompt) {}

char Generator::next() {
  const Tensor logits = logits_behind(unread());
  const auto position = static_cast<int64_t>(text_.size());
  text_ += static_cast<char>(sample(logits.to_vector<float>(), config_.generate, position));
  return text_.back();
}

Tensor Generator::logits_behind(const std::vector<int64_t>& ids) {
  if (config_.run.capture) {
    Tensor logits;
    for (const int64_t id : ids) logits = run_captured(id);
    return logits;
  }
  const auto count = static_cast<int64_t>(ids.size());
  const Tensor logits =
      run({Tensor::from<int64_t>(ids, {1, count}), full({1}, cache_.length(), DataType::INT64)})[0];
  cache_.advance(count);
  return logits;
}

// A kilobyte to every rank, which then all choose alike.
TensorList Generator::run(const TensorList& inputs) {
  const Tensor logits = model_.logits_behind(inputs[0], inputs[1], &cache_);
  return {distributed::reshard(slice(logits, {2}, {0}, {kBytes}), mesh_, {})};
}

Tensor Generator::run_captured(int64_t id) {
  const TensorList inputs = {full({1, 1}, id, DataType::INT64),
                             full({1}, cache_.length(), DataType::INT64)};
  if (!program_) {
    program_ = capture([this](const TensorList& in) { return run(in); }, inputs);
    program_->limit_memory(program_memory(config_.memory));
  }
  cache_.advance(1);
  return program_->run(inputs)[0];
}

std::vector<int64_t> Generator::unread() {
  const auto window = static_cast<size_t>(config_.model.seq_len);
  const auto held = static_cast<size_t>(cache_.length());
  if (held + text_.size() - read_ > window) {
    cache_.clear();
    read_ = text_.size() - std::max<size_t>(window / 2, 1);
  }
  std::vector<int64_t> ids;
  for (; read_ < text_.size(); ++read_) ids.push_back(static_cast<uint8_t>(text_[read_]));
  return ids;
}

void settle_generate(JobConfig* config) {
  const auto length = static_cast<int64_t>(config->generate.prompt.size());
  if (length > config->model.seq_len) {
    throw config->wrong({"generate.prompt", "model.seq_len"},
                        fmt::format("the prompt has {} bytes and the model sees {} (model.seq_len);"
                                    " shorten it.",
                                    length, config->model.seq_len));
  }
  config->model.dropout = 0.0;
}

}  // namespace phi::job
