// The table of keys and their values.
#include "tools/job/config/keys/resolved_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <map>

#include "tools/job/config/keys/job_keys.h"
#include "tools/job/config/placement_rows.h"

namespace phi::job {
namespace {

using training::LearningRateKind;
using training::OptimizerKind;

// The shortest text that parses to the same number, as fmt formats doubles.
template <typename T>
std::string text_of(const T& value) {
  return fmt::format("{}", value);
}
std::string text_of(const std::vector<std::string>& texts) {
  return fmt::format("[{}]", fmt::join(texts, ", "));
}
std::string text_of(const std::vector<int64_t>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}
std::string text_of(const std::vector<double>& numbers) {
  return fmt::format("[{}]", fmt::join(numbers, ", "));
}
std::string text_of(const std::map<std::string, std::string>& texts) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : texts) entries.push_back(fmt::format("{}: {}", key, value));
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}
std::string text_of(data::DataKind kind) { return std::string(name_of(kind)); }
std::string text_of(data::TokenType type) { return std::string(name_of(type)); }
std::string text_of(data::Documents documents) { return std::string(name_of(documents)); }
std::string text_of(data::ImageFormat format) { return std::string(name_of(format)); }
std::string text_of(DataType type) { return std::string(name_of(type)); }

std::string text_of(Recompute recompute) { return std::string(name_of(recompute)); }

std::string text_of(OptimizerKind kind) {
  switch (kind) {
    case OptimizerKind::kSgd:
      return "sgd";
    case OptimizerKind::kMomentum:
      return "momentum";
    case OptimizerKind::kAdamW:
      return "adamw";
  }
  return "";
}

std::string text_of(LearningRateKind kind) {
  switch (kind) {
    case LearningRateKind::kConstant:
      return "constant";
    case LearningRateKind::kCosine:
      return "cosine";
    case LearningRateKind::kStep:
      return "step";
  }
  return "";
}

std::string text_of(NonFinitePolicy policy) {
  switch (policy) {
    case NonFinitePolicy::kStop:
      return "stop";
    case NonFinitePolicy::kSkip:
      return "skip";
    case NonFinitePolicy::kRollBack:
      return "rollback";
  }
  return "";
}

template <nn::Layout::Kind kind>
std::string rows_text(const JobConfig& config) {
  return to_yaml(config.placements, kind);
}

using Value = std::string (*)(const JobConfig&);

#define VALUE(expression) +[](const JobConfig& c) { return text_of(c.expression); }

const std::map<std::string_view, Value>& values() {
  static const std::map<std::string_view, Value> table = {
      {"mode", VALUE(mode)},
      {"place", VALUE(place)},
      {"ops", VALUE(ops)},
      {"models", VALUE(models)},
      {"model.kind", VALUE(model.kind)},
      {"model.seed", VALUE(model.seed)},
      {"mesh.shape", VALUE(mesh.shape)},
      {"mesh.dims", VALUE(mesh.dims)},
      {"data.kind", VALUE(data.kind)},
      {"data.paths", VALUE(data.paths)},
      {"data.dtype", VALUE(data.dtype)},
      {"data.documents", VALUE(data.documents)},
      {"data.seed", VALUE(data.seed)},
      {"data.format", VALUE(data.format)},
      {"data.image_size", VALUE(data.image_size)},
      {"data.mean", VALUE(data.mean)},
      {"data.std", VALUE(data.std)},
      {"run.steps", VALUE(run.steps)},
      {"run.global_batch", VALUE(run.global_batch)},
      {"run.micro_batches", VALUE(run.micro_batches)},
      {"run.dtype", VALUE(run.dtype)},
      {"run.tf32", VALUE(run.tf32)},
      {"run.messages", VALUE(run.messages)},
      {"run.reduction", VALUE(run.reduction)},
      {"run.sequence_parallel", VALUE(run.sequence_parallel)},
      {"run.capture", VALUE(run.capture)},
      {"run.graphs", VALUE(run.graphs)},
      {"run.schedule", VALUE(run.schedule)},
      {"run.chunks", VALUE(run.chunks)},
      {"run.zero_stage", VALUE(run.zero_stage)},
      {"run.recompute", VALUE(run.recompute)},
      {"run.save", VALUE(run.save)},
      {"run.on_nonfinite", VALUE(run.on_nonfinite)},
      {"run.loss_jump", VALUE(run.loss_jump)},
      {"pipeline.cut", VALUE(pipeline.cut)},
      {"placements.parameters", rows_text<nn::Layout::Kind::kParameters>},
      {"placements.inputs", rows_text<nn::Layout::Kind::kInputs>},
      {"placements.outputs", rows_text<nn::Layout::Kind::kOutputs>},
      {"placements.caches", rows_text<nn::Layout::Kind::kCaches>},
      {"checkpoint.dir", VALUE(checkpoint.dir)},
      {"checkpoint.every", VALUE(checkpoint.every)},
      {"checkpoint.minutes", VALUE(checkpoint.minutes)},
      {"checkpoint.keep", VALUE(checkpoint.keep)},
      {"checkpoint.async", VALUE(checkpoint.async)},
      {"checkpoint.fallback", VALUE(checkpoint.fallback)},
      {"elastic.dp", VALUE(elastic.dp)},
      {"optimizer.kind", VALUE(optimizer.update.kind)},
      {"optimizer.lr", VALUE(optimizer.rate.peak)},
      {"optimizer.betas",
       +[](const JobConfig& c) {
         return text_of(std::array{c.optimizer.update.beta1, c.optimizer.update.beta2});
       }},
      {"optimizer.eps", VALUE(optimizer.update.epsilon)},
      {"optimizer.weight_decay", VALUE(optimizer.update.weight_decay)},
      {"optimizer.momentum", VALUE(optimizer.update.momentum)},
      {"optimizer.nesterov", VALUE(optimizer.update.nesterov)},
      {"optimizer.grad_clip", VALUE(optimizer.update.grad_clip)},
      {"optimizer.schedule.kind", VALUE(optimizer.rate.kind)},
      {"optimizer.schedule.warmup_steps", VALUE(optimizer.rate.warmup_steps)},
      {"optimizer.schedule.min_ratio", VALUE(optimizer.rate.min_ratio)},
      {"optimizer.schedule.milestones", VALUE(optimizer.rate.milestones)},
      {"optimizer.schedule.gamma", VALUE(optimizer.rate.gamma)},
      {"memory.device", VALUE(memory.device)},
      {"memory.host", VALUE(memory.host)},
      {"memory.disk", VALUE(memory.disk)},
      {"weights", VALUE(weights)},
      {"generate.prompt", VALUE(generate.prompt)},
      {"generate.tokens", VALUE(generate.tokens)},
      {"generate.temperature", VALUE(generate.sampling.temperature)},
      {"generate.top_k", VALUE(generate.sampling.top_k)},
      {"generate.top_p", VALUE(generate.sampling.top_p)},
      {"generate.seed", VALUE(generate.sampling.seed)},
      {"plan.devices", VALUE(plan.devices)},
      {"plan.machine", VALUE(plan.machine)},
      {"plan.machine_content", VALUE(plan.machine_content)},
      {"plan.step_seconds", VALUE(plan.step_seconds)},
      {"plan.peak_bytes", VALUE(plan.peak_bytes)},
      {"plan.of", VALUE(plan.of)},
  };
  return table;
}

#undef VALUE

bool is_section_in(const std::vector<JobKey>& keys, std::string_view path) {
  const std::string below = std::string(path) + ".";
  return std::ranges::any_of(keys, [&](const JobKey& key) { return key.path.starts_with(below); });
}

}  // namespace

bool is_section(std::string_view path) { return is_section_in(job_keys(), path); }

std::vector<std::pair<std::string, std::string>> resolved_values(const JobConfig& config) {
  constexpr std::string_view kModel = "model.";
  std::vector<std::pair<std::string, std::string>> out;
  const std::vector<JobKey> keys = job_keys();
  for (const JobKey& key : keys) {
    if (is_section_in(keys, key.path)) continue;
    const auto row = values().find(key.path);
    if (row != values().end()) {
      out.emplace_back(key.path, row->second(config));
      continue;
    }
    PHI_CHECK(key.path.starts_with(kModel),
              errors::Internal("resolved_values.cc has no row for the key '{}'.", key.path));
    const std::string name = key.path.substr(kModel.size());
    if (!config.model.values.has(name)) continue;  // of another kind
    out.emplace_back(key.path, std::visit([](const auto& value) { return text_of(value); },
                                          config.model.values.at(name)));
  }
  return out;
}

}  // namespace phi::job
