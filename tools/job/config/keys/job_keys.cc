// The table of keys and their conditions. Keys of models are those of the rows of kinds
// (api/nn/models/model_kind.h). Every job with a model of a kind reads all keys of that kind, even
// those that only matter for training, because they describe the model.
#include "tools/job/config/keys/job_keys.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

namespace phi::job {
namespace {

using nn::models::ModelKey;
using nn::models::ModelKind;
using training::LearningRateKind;
using training::OptimizerKind;

bool has_key(const ModelKind& kind, std::string_view name) {
  return std::ranges::find(kind.keys, name, &ModelKey::name) != kind.keys.end();
}

std::string mode_of(const JobConfig& config) { return "mode: " + config.mode; }

std::string kind_of(const JobConfig& config) { return "model.kind: " + config.model.kind; }

std::string data_of(const JobConfig& config) {
  return fmt::format("data.kind: {}", name_of(config.data.kind));
}

std::string mesh_of(const JobConfig& config) {
  return config.mesh.shape.empty() ? "no mesh" : "the mesh " + config.mesh.to_string();
}

std::string optimizer_of(const JobConfig& config) {
  switch (config.optimizer.update.kind) {
    case OptimizerKind::kSgd:
      return "optimizer.kind: sgd";
    case OptimizerKind::kMomentum:
      return "optimizer.kind: momentum";
    case OptimizerKind::kAdamW:
      return "optimizer.kind: adamw";
  }
  return "";
}

std::string rate_of(const JobConfig& config) {
  switch (config.optimizer.rate.kind) {
    case LearningRateKind::kConstant:
      return "optimizer.schedule.kind: constant";
    case LearningRateKind::kCosine:
      return "optimizer.schedule.kind: cosine";
    case LearningRateKind::kStep:
      return "optimizer.schedule.kind: step";
  }
  return "";
}

bool trains(const JobConfig& config) { return config.mode == "train"; }

// A job for any mesh may run on one rank, so it reads the keys that depend on a mesh.
bool has_mesh_dim(const JobConfig& config, std::string_view name) {
  const MeshConfig& mesh = config.mesh;
  if (mesh.shape.empty()) return false;
  return mesh.num_ranks() == 1 ||
         std::find(mesh.dims.begin(), mesh.dims.end(), name) != mesh.dims.end();
}

const KeyCondition kTrains{"mode: train", trains, mode_of};
const KeyCondition kHasSteps{"mode: forward or train",
                             [](const JobConfig& c) { return c.mode != "generate"; }, mode_of};
const KeyCondition kGenerates{"mode: generate",
                              [](const JobConfig& c) { return c.mode == "generate"; }, mode_of};
// With ZeRO stage 3, parameters are sharded in every mode.
const KeyCondition kSplitsStates{
    "mode: train (or stage 3)",
    [](const JobConfig& c) { return trains(c) || c.run.zero_stage == 3; }, mode_of};
const KeyCondition kSchedules{"mode: train (or run.chunks of more than 1)",
                              [](const JobConfig& c) { return trains(c) || c.run.chunks > 1; },
                              mode_of};
const KeyCondition kRepeats{"a model.kind with repeated layers",
                            [](const JobConfig& c) { return !c.model.row().repeated.empty(); },
                            kind_of};
const KeyCondition kHasSequences{"a model.kind of token ids",
                                 [](const JobConfig& c) { return !c.model.takes_images(); },
                                 kind_of};
const KeyCondition kHasDp{"a mesh dim dp", [](const JobConfig& c) { return has_mesh_dim(c, "dp"); },
                          mesh_of};
const KeyCondition kHasTp{"a mesh dim tp", [](const JobConfig& c) { return has_mesh_dim(c, "tp"); },
                          mesh_of};
const KeyCondition kHasPp{"a mesh dim pp", [](const JobConfig& c) { return has_mesh_dim(c, "pp"); },
                          mesh_of};
const KeyCondition kInterleaves{
    "run.schedule: interleaved", [](const JobConfig& c) { return c.run.schedule == "interleaved"; },
    [](const JobConfig& c) { return "run.schedule: " + c.run.schedule; }};
const KeyCondition kOnGpus{"place: gpu", [](const JobConfig& c) { return c.place == "gpu"; },
                           [](const JobConfig& c) { return "place: " + c.place; }};
const KeyCondition kByNccl{"run.messages: nccl",
                           [](const JobConfig& c) { return c.run.messages == "nccl"; },
                           [](const JobConfig& c) { return "run.messages: " + c.run.messages; }};
const KeyCondition kCaptures{"run.capture: true", [](const JobConfig& c) { return c.run.capture; },
                             [](const JobConfig&) { return std::string("run.capture: false"); }};
// Swapping transfers values between steps, which therefore run one by one.
const KeyCondition kUnlimited{
    "no limit memory.device", [](const JobConfig& c) { return !c.memory.is_limited(); },
    [](const JobConfig& c) { return fmt::format("memory.device: {}", c.memory.device); }};
const KeyCondition kAdamW{
    "optimizer.kind: adamw",
    [](const JobConfig& c) { return c.optimizer.update.kind == OptimizerKind::kAdamW; },
    optimizer_of};
const KeyCondition kMomentum{
    "optimizer.kind: momentum",
    [](const JobConfig& c) { return c.optimizer.update.kind == OptimizerKind::kMomentum; },
    optimizer_of};
const KeyCondition kCosine{
    "optimizer.schedule.kind: cosine",
    [](const JobConfig& c) { return c.optimizer.rate.kind == LearningRateKind::kCosine; }, rate_of};
const KeyCondition kStep{
    "optimizer.schedule.kind: step",
    [](const JobConfig& c) { return c.optimizer.rate.kind == LearningRateKind::kStep; }, rate_of};
const KeyCondition kLimitsDevice{"a limit memory.device",
                                 [](const JobConfig& c) { return c.memory.is_limited(); },
                                 [](const JobConfig&) { return std::string("none"); }};
const KeyCondition kSaves{"a folder checkpoint.dir",
                          [](const JobConfig& c) { return !c.checkpoint.dir.empty(); },
                          [](const JobConfig&) { return std::string("none"); }};
const KeyCondition kFlatTokens{
    "data.kind: tokens", [](const JobConfig& c) { return c.data.kind == data::DataKind::kTokens; },
    data_of};
// A flat file does not contain the ends of documents.
const KeyCondition kHasDocuments{"data.kind: bytes or megatron",
                                 [](const JobConfig& c) {
                                   return c.data.kind == data::DataKind::kBytes ||
                                          c.data.kind == data::DataKind::kMegatron;
                                 },
                                 data_of};
const KeyCondition kImages{
    "data.kind: images", [](const JobConfig& c) { return c.data.kind == data::DataKind::kImages; },
    data_of};
const KeyCondition kSamples{
    "generate.temperature above 0",
    [](const JobConfig& c) { return c.generate.sampling.temperature > 0.0; },
    [](const JobConfig&) { return std::string("generate.temperature: 0"); }};

// The condition of a key of `model`: the kinds that have it.
KeyCondition kinds_with(const std::string& key) {
  std::vector<std::string> kinds;
  for (const ModelKind* kind : nn::models::model_kinds()) {
    if (has_key(*kind, key)) kinds.push_back(kind->name);
  }
  return {fmt::format("model.kind: {}", fmt::join(kinds, " or ")),
          [key](const JobConfig& c) { return has_key(c.model.row(), key); }, kind_of};
}

// The keys of all kinds, each once.
std::vector<JobKey> model_keys() {
  std::vector<JobKey> keys = {{"model.kind"}};
  for (const ModelKind* kind : nn::models::model_kinds()) {
    for (const ModelKey& key : kind->keys) {
      const std::string path = "model." + key.name;
      if (std::ranges::find(keys, path, &JobKey::path) != keys.end()) continue;
      keys.push_back({path, {kinds_with(key.name)}});
    }
  }
  keys.push_back({"model.seed"});
  return keys;
}

std::vector<JobKey> sections() {
  return {
      {"mode"},    {"place"},  {"ops"},      {"models"},     {"model"},     {"mesh"},
      {"data"},    {"run"},    {"pipeline"}, {"placements"}, {"optimizer"}, {"checkpoint"},
      {"elastic"}, {"memory"}, {"weights"},  {"generate"},   {"plan"},
  };
}

std::vector<JobKey> keys_of_sections() {
  return {
      {"mesh.shape"},
      {"mesh.dims"},
      {"data.kind", {kHasSteps}},
      {"data.paths", {kHasSteps}},
      {"data.dtype", {kHasSteps, kFlatTokens}},
      {"data.documents", {kHasSteps, kHasDocuments}},
      {"data.seed", {kHasSteps}},
      {"data.format", {kHasSteps, kImages}},
      {"data.image_size", {kHasSteps, kImages}},
      {"data.mean", {kHasSteps, kImages}},
      {"data.std", {kHasSteps, kImages}},
      {"run.steps", {kHasSteps}},
      {"run.global_batch", {kHasSteps}},
      {"run.micro_batches", {kHasSteps}},
      {"run.dtype"},
      {"run.tf32", {kOnGpus}},
      {"run.messages", {kOnGpus}},
      {"run.reduction", {kOnGpus, kByNccl}},
      {"run.sequence_parallel", {kHasSteps, kHasTp, kHasSequences}},
      {"run.capture"},
      {"run.graphs", {kOnGpus, kCaptures, kUnlimited}},
      {"run.schedule", {kSchedules}},
      {"run.chunks", {kInterleaves, kRepeats}},
      {"run.zero_stage", {kSplitsStates, kHasDp}},
      {"run.recompute", {kTrains, kRepeats}},
      {"run.save"},
      {"run.on_nonfinite", {kHasSteps}},
      {"run.loss_jump", {kTrains}},
      {"pipeline.cut", {kHasPp, kRepeats}},
      {"placements.parameters"},
      {"placements.inputs"},
      {"placements.outputs"},
      {"placements.caches"},
      {"optimizer.kind", {kTrains}},
      {"optimizer.lr", {kTrains}},
      {"optimizer.betas", {kTrains, kAdamW}},
      {"optimizer.eps", {kTrains, kAdamW}},
      {"optimizer.weight_decay", {kTrains}},
      {"optimizer.momentum", {kTrains, kMomentum}},
      {"optimizer.nesterov", {kTrains, kMomentum}},
      {"optimizer.grad_clip", {kTrains}},
      {"optimizer.schedule", {kTrains}},
      {"optimizer.schedule.kind", {kTrains}},
      {"optimizer.schedule.warmup_steps", {kTrains}},
      {"optimizer.schedule.min_ratio", {kTrains, kCosine}},
      {"optimizer.schedule.milestones", {kTrains, kStep}},
      {"optimizer.schedule.gamma", {kTrains, kStep}},
      {"checkpoint.dir", {kTrains}},
      {"checkpoint.every", {kTrains, kSaves}},
      {"checkpoint.minutes", {kTrains, kSaves}},
      {"checkpoint.keep", {kTrains, kSaves}},
      {"checkpoint.async", {kTrains, kSaves}},
      {"checkpoint.fallback", {kTrains, kSaves}},
      {"elastic.dp", {kTrains, kSaves}},
      {"memory.device"},
      {"memory.host", {kLimitsDevice}},
      {"memory.disk", {kLimitsDevice}},
      {"generate.prompt", {kGenerates}},
      {"generate.tokens", {kGenerates}},
      {"generate.temperature", {kGenerates}},
      {"generate.top_k", {kGenerates, kSamples}},
      {"generate.top_p", {kGenerates, kSamples}},
      {"generate.seed", {kGenerates, kSamples}},
      {"plan.devices", {kTrains}},
      {"plan.machine", {kTrains}},
      {"plan.machine_content", {kTrains}},
      {"plan.step_seconds", {kTrains}},
      {"plan.peak_bytes", {kTrains}},
      {"plan.of", {kTrains}},
  };
}

}  // namespace

std::vector<JobKey> job_keys() {
  std::vector<JobKey> keys = sections();
  for (auto& more : {model_keys(), keys_of_sections()}) {
    keys.insert(keys.end(), more.begin(), more.end());
  }
  return keys;
}

std::vector<std::string> key_names(std::string_view section) {
  std::vector<std::string> names;
  for (const JobKey& key : job_keys()) {
    if (!key.path.starts_with(section)) continue;
    std::string name = key.path.substr(section.size());
    if (name.find('.') == std::string::npos) names.push_back(std::move(name));
  }
  return names;
}

std::optional<KeyCondition> unmet_condition(const JobConfig& config, std::string_view path) {
  const std::vector<JobKey> keys = job_keys();
  const auto key =
      std::find_if(keys.begin(), keys.end(), [&](const JobKey& each) { return each.path == path; });
  for (const KeyCondition& condition : key->conditions) {
    if (!condition.holds(config)) return condition;
  }
  return std::nullopt;
}

void note_read_keys(JobConfig* config) {
  std::erase_if(config->unread,
                [&](const std::string& path) { return !unmet_condition(*config, path); });
}

void check_keys_are_read(JobConfig* config) {
  note_read_keys(config);
  const auto line = [&](const std::string& path) { return config->lines.at(path); };
  const auto first = std::min_element(
      config->unread.begin(), config->unread.end(),
      [&](const std::string& a, const std::string& b) { return line(a) < line(b); });
  if (first == config->unread.end()) return;
  const std::optional<KeyCondition> condition = unmet_condition(*config, *first);
  throw config->wrong(
      {*first},
      fmt::format(
          "applies only to a job with {}, and this job has {}; remove the key, or change that.",
          condition->wanted, condition->instead(*config)));
}

}  // namespace phi::job
