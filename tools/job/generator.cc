// One byte after the other.
#include "tools/job/generator.h"

#include <algorithm>
#include <vector>

#include "phi/api.h"
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
  const Tensor logits = slice(model_.next_logits(unread(), &cache_), {2}, {0}, {kBytes});
  // A kilobyte to every rank, which then all choose alike.
  const Tensor everywhere = distributed::reshard(logits, mesh_, {});
  const auto position = static_cast<int64_t>(text_.size());
  text_ += static_cast<char>(sample(everywhere.values<float>(), config_.generate, position));
  return text_.back();
}

Tensor Generator::unread() {
  const auto window = static_cast<size_t>(config_.model.seq_len);
  const auto held = static_cast<size_t>(cache_.length());
  if (held + text_.size() - read_ > window) {
    cache_.clear();
    read_ = text_.size() - std::max<size_t>(window / 2, 1);
  }
  std::vector<int64_t> ids;
  for (; read_ < text_.size(); ++read_) ids.push_back(static_cast<uint8_t>(text_[read_]));
  return Tensor::from<int64_t>(ids, {1, static_cast<int64_t>(ids.size())});
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
  config->run.sequence_parallel = false;
}

}  // namespace phi::job
