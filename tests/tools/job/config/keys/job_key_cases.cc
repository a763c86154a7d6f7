// A row for each key.
#include "tests/tools/job/config/keys/job_key_cases.h"

#include <fmt/ranges.h>

#include <variant>

#include "tools/job/config/keys/resolved_values.h"
#include "tools/job/config/placement_rows.h"

namespace phi::job {
namespace {

template <typename T>
std::string as_text(const T& value) {
  return fmt::format("{}", value);
}
std::string as_text(const std::vector<int64_t>& values) {
  return fmt::format("[{}]", fmt::join(values, ", "));
}

std::string as_text(const std::map<std::string, std::string>& values) {
  std::vector<std::string> entries;
  for (const auto& [key, value] : values) entries.push_back(key + ": " + value);
  return fmt::format("{{{}}}", fmt::join(entries, ", "));
}

#define SEEN(expression) [](const JobConfig& c) { return as_text(c.expression); }
#define SEEN_ROWS(kind) \
  [](const JobConfig& c) { return to_yaml(c.placements, nn::Layout::Kind::kind); }
#define SEEN_OF_MODEL(key) [](const JobConfig& c) { return text_of_model(c, key); }

// "no value" for a key of another kind.
std::string text_of_model(const JobConfig& config, const char* key) {
  if (!config.model.values.has(key)) return "no value";
  return std::visit([](const auto& value) { return as_text(value); }, config.model.values.at(key));
}

const Settings kOnTp = {{"mesh.shape", "[2]"}, {"mesh.dims", "[tp]"}};
const Settings kTrain = {{"mode", "train"}};
const Settings kSaves = {{"mode", "train"}, {"checkpoint.dir", "folder"}};
const Settings kGenerate = {{"mode", "generate"}};
const Settings kGreedy = {{"mode", "generate"}, {"generate.temperature", "0.0"}};
const Settings kTokens = {{"data.kind", "tokens"}, {"data.paths", "[a]"}};
const Settings kLlama = {{"model.kind", "llama"}};
const Settings kImageData = {{"data.kind", "images"}, {"data.paths", "[a]"}};
Settings of_images(Settings job) {
  job.insert(kImageData.begin(), kImageData.end());
  return job;
}
const Settings kResNet = of_images({{"model.kind", "resnet"}});
const Settings kVit = of_images({{"model.kind", "vit"}});
const Settings kSgd = {{"mode", "train"}, {"optimizer.kind", "sgd"}};
const Settings kMomentum = {{"mode", "train"}, {"optimizer.kind", "momentum"}};
const Settings kCosine = {{"mode", "train"}, {"optimizer.schedule.kind", "cosine"}};
const Settings kStep = {{"mode", "train"}, {"optimizer.schedule.kind", "step"}};

const Unread kNotTraining = {
    {}, "applies only to a job with mode: train, and this job has mode: forward"};
const Unread kWhileGenerating = {
    kGenerate,
    "applies only to a job with mode: forward or train, and this job has mode: generate"};
const Unread kNotGenerating = {
    kTrain, "applies only to a job with mode: generate, and this job has mode: train"};
const Unread kNothingDrawn = {kGreedy,
                              "applies only to a job with generate.temperature above 0, and this "
                              "job has generate.temperature: 0"};
const Unread kNotAdamW = {
    kSgd, "applies only to a job with optimizer.kind: adamw, and this job has optimizer.kind: sgd"};
const Unread kNotMomentum = {
    kTrain,
    "applies only to a job with optimizer.kind: momentum, and this job has optimizer.kind: adamw"};
const Unread kNoLimit = {{},
                         "applies only to a job with a limit memory.device, and this job has none"};
const Unread kNoFolder = {
    kTrain, "applies only to a job with a folder checkpoint.dir, and this job has none"};
const Unread kNotLlama = {
    {}, "applies only to a job with model.kind: llama, and this job has model.kind: gpt"};
const Unread kNotGpt = {
    kLlama, "applies only to a job with model.kind: gpt, and this job has model.kind: llama"};
const Unread kNotDecoder = {kResNet,
                            "applies only to a job with model.kind: gpt or llama, and this job has "
                            "model.kind: resnet"};
const Unread kNotTransformer = {kResNet,
                                "applies only to a job with model.kind: gpt or llama or vit, and "
                                "this job has model.kind: resnet"};
const Unread kNotResNet = {
    {}, "applies only to a job with model.kind: resnet, and this job has model.kind: gpt"};
// Kinds of a library that another test has loaded may follow.
const Unread kNotVit = {{}, "applies only to a job with model.kind: vit"};
const Unread kNotOfImages = {{}, "applies only to a job with model.kind: resnet or vit"};
const Unread kNotImageData = {
    {}, "applies only to a job with data.kind: images, and this job has data.kind: bytes"};
const Unread kNotRepeated = {of_images({{"mode", "train"}, {"model.kind", "resnet"}}),
                             "applies only to a job with a model.kind with repeated layers, and "
                             "this job has model.kind: resnet"};

}  // namespace

Settings on_mesh(const char* shape, const char* dims, Settings job) {
  job.insert({{"mesh.shape", shape}, {"mesh.dims", dims}});
  return job;
}

const std::vector<KeyCase>& key_cases() {
  static const std::vector<KeyCase> cases = {
      {"mode", "train", "forward", {}, SEEN(mode)},
      {"place", "gpu", "cpu", {}, SEEN(place)},
      {"ops",
       "[liba.so, libb.so]",
       "[]",
       {},
       [](const JobConfig& c) { return fmt::format("[{}]", fmt::join(c.ops, ", ")); }},
      {"models",
       "[" T_MODELS "]",
       "[]",
       {},
       [](const JobConfig& c) { return fmt::format("[{}]", fmt::join(c.models, ", ")); }},
      {"model.kind", "llama", "gpt", {}, SEEN(model.kind)},
      {"model.vocab", "300", "256", {}, SEEN_OF_MODEL("vocab"), {kNotDecoder}},
      {"model.seq_len", "17", "256", {}, SEEN_OF_MODEL("seq_len"), {kNotDecoder}},
      {"model.d_model", "48", "384", {}, SEEN_OF_MODEL("d_model"), {kNotTransformer}},
      {"model.layers", "3", "6", {}, SEEN_OF_MODEL("layers"), {kNotTransformer}},
      {"model.heads", "4", "6", {}, SEEN_OF_MODEL("heads"), {kNotTransformer}},
      {"model.mlp_ratio", "2", "4", {}, SEEN_OF_MODEL("mlp_ratio"), {kNotGpt}},
      {"model.activation", "relu", "gelu_tanh", {}, SEEN_OF_MODEL("activation"), {kNotGpt}},
      {"model.dropout",
       "0.25",
       "0.0",
       {},
       SEEN_OF_MODEL("dropout"),
       {{kLlama,
         "applies only to a job with model.kind: gpt or vit, and this job has model.kind: "
         "llama"}}},
      {"model.blocks", "[1, 3]", "[2, 2, 2, 2]", kResNet, SEEN_OF_MODEL("blocks"), {kNotResNet}},
      {"model.width", "16", "64", kResNet, SEEN_OF_MODEL("width"), {kNotResNet}},
      {"model.channels", "1", "3", kResNet, SEEN_OF_MODEL("channels"), {kNotOfImages}},
      {"model.classes", "7", "10", kResNet, SEEN_OF_MODEL("classes"), {kNotOfImages}},
      {"model.image_size",
       "64",
       "32",
       of_images({{"model.kind", "vit"}, {"data.image_size", "64"}}),
       SEEN_OF_MODEL("image_size"),
       {kNotVit}},
      {"model.patch", "8", "4", kVit, SEEN_OF_MODEL("patch"), {kNotVit}},
      {"model.hidden", "100", "768", kVit, SEEN_OF_MODEL("hidden"), {kNotVit}},
      {"model.kv_heads", "2", "6", kLlama, SEEN_OF_MODEL("kv_heads"), {kNotLlama}},
      {"model.ffn", "100", "1024", kLlama, SEEN_OF_MODEL("ffn"), {kNotLlama}},
      {"model.rope_base", "500", "1.0e4", kLlama, SEEN_OF_MODEL("rope_base"), {kNotLlama}},
      {"model.qkv_bias", "true", "false", kLlama, SEEN_OF_MODEL("qkv_bias"), {kNotLlama}},
      {"model.tied_head", "true", "false", {}, SEEN_OF_MODEL("tied_head"), {kNotDecoder}},
      {"model.norm_eps", "0.5", "1.0e-5", {}, SEEN_OF_MODEL("norm_eps"), {kNotTransformer}},
      {"model.seed", "7", "1", {}, SEEN(model.seed)},
      {"mesh.shape", "[2, 3]", "[1]", {{"mesh.dims", "[tp, pp]"}}, SEEN(mesh.shape)},
      {"mesh.dims",
       "[tp, pp]",
       "[dp]",
       {{"mesh.shape", "[2, 3]"}},
       [](const JobConfig& c) { return fmt::format("[{}]", fmt::join(c.mesh.dims, ", ")); }},
      {"data.kind",
       "tokens",
       "bytes",
       {{"data.paths", "[a]"}},
       [](const JobConfig& c) { return std::string(name_of(c.data.kind)); },
       {kWhileGenerating}},
      {"data.paths",
       "[a, b/c]",
       "[phi, distributed]",
       {},
       [](const JobConfig& c) { return fmt::format("[{}]", fmt::join(c.data.paths, ", ")); },
       {kWhileGenerating}},
      {"data.dtype",
       "uint32",
       "uint16",
       kTokens,
       [](const JobConfig& c) { return std::string(name_of(c.data.dtype)); },
       {kWhileGenerating,
        {{}, "applies only to a job with data.kind: tokens, and this job has data.kind: bytes"}}},
      {"data.documents",
       "apart",
       "joined",
       {{"data.kind", "megatron"}, {"data.paths", "[a]"}},
       [](const JobConfig& c) { return std::string(name_of(c.data.documents)); },
       {kWhileGenerating,
        {kTokens,
         "applies only to a job with data.kind: bytes or megatron, and this job has data.kind: "
         "tokens"}}},
      {"data.seed", "9", "1", {}, SEEN(data.seed), {kWhileGenerating}},
      {"data.format",
       "cifar10",
       "folders",
       kResNet,
       [](const JobConfig& c) { return std::string(name_of(c.data.format)); },
       {kWhileGenerating, kNotImageData}},
      {"data.image_size",
       "48",
       "32",
       kResNet,
       SEEN(data.image_size),
       {kWhileGenerating, kNotImageData}},
      {"data.mean",
       "[0.25, 0.5, 0.75]",
       "[0.5]",
       kResNet,
       [](const JobConfig& c) { return fmt::format("[{}]", fmt::join(c.data.mean, ", ")); },
       {kWhileGenerating, kNotImageData}},
      {"data.std",
       "[0.25]",
       "[0.5]",
       kResNet,
       [](const JobConfig& c) { return fmt::format("[{}]", fmt::join(c.data.std, ", ")); },
       {kWhileGenerating, kNotImageData}},
      {"run.steps", "5", "4", {}, SEEN(run.steps), {kWhileGenerating}},
      {"run.global_batch", "12", "8", {}, SEEN(run.global_batch), {kWhileGenerating}},
      {"run.micro_batches", "2", "4", {}, SEEN(run.micro_batches), {kWhileGenerating}},
      {"run.dtype",
       "bfloat16",
       "float32",
       {},
       [](const JobConfig& c) { return std::string(name_of(c.run.dtype)); }},
      {"run.tf32",
       "true",
       "false",
       {{"place", "gpu"}},
       SEEN(run.tf32),
       {{{}, "applies only to a job with place: gpu, and this job has place: cpu"}}},
      {"run.messages",
       "host",
       "nccl",
       {{"place", "gpu"}},
       SEEN(run.messages),
       {{{}, "applies only to a job with place: gpu, and this job has place: cpu"}}},
      {"run.reduction",
       "fast",
       "exact",
       {{"place", "gpu"}},
       SEEN(run.reduction),
       {{{}, "applies only to a job with place: gpu, and this job has place: cpu"},
        {{{"place", "gpu"}, {"run.messages", "host"}},
         "applies only to a job with run.messages: nccl, and this job has run.messages: host"}}},
      {"run.sequence_parallel",
       "true",
       "false",
       on_mesh("[2]", "[tp]"),
       SEEN(run.sequence_parallel),
       {kWhileGenerating,
        {on_mesh("[2]", "[dp]"),
         "applies only to a job with a mesh dim tp, and this job has the mesh dp=2"},
        {on_mesh("[2]", "[tp]", kVit),
         "applies only to a job with a model.kind of token ids, and this job has model.kind: "
         "vit"}}},
      {"run.capture", "true", "false", {}, SEEN(run.capture)},
      {"run.graphs",
       "false",
       "true",
       {{"place", "gpu"}, {"run.capture", "true"}},
       SEEN(run.graphs),
       {{{}, "applies only to a job with place: gpu, and this job has place: cpu"},
        {{{"place", "gpu"}},
         "applies only to a job with run.capture: true, and this job has run.capture: false"},
        {{{"place", "gpu"}, {"memory.device", "64MiB"}},
         "applies only to a job with no limit memory.device, and this job has memory.device: "
         "67108864"}}},
      {"run.schedule",
       "gpipe",
       "1f1b",
       kTrain,
       SEEN(run.schedule),
       {{{}, "applies only to a job with mode: train (or run.chunks of more than 1)"}}},
      {"run.chunks",
       "2",
       "1",
       {{"run.schedule", "interleaved"}},
       SEEN(run.chunks),
       {{kTrain,
         "applies only to a job with run.schedule: interleaved, and this job has run.schedule: "
         "1f1b"},
        {of_images({{"mode", "train"}, {"model.kind", "resnet"}, {"run.schedule", "interleaved"}}),
         "applies only to a job with a model.kind with repeated layers, and this job has "
         "model.kind: resnet"}}},
      {"run.zero_stage",
       "2",
       "0",
       on_mesh("[2]", "[dp]", kTrain),
       SEEN(run.zero_stage),
       {{{}, "applies only to a job with mode: train (or stage 3), and this job has mode: forward"},
        {on_mesh("[2]", "[tp]", kTrain),
         "applies only to a job with a mesh dim dp, and this job has the mesh tp=2"}}},
      {"run.recompute",
       "full",
       "none",
       kTrain,
       [](const JobConfig& c) {
         return std::string(c.run.recompute == Recompute::kFull ? "full" : "another");
       },
       {kNotTraining, kNotRepeated}},
      {"run.save", "folder", "\"\"", {}, SEEN(run.save)},
      {"pipeline.cut",
       "[4, 2]",
       "[]",
       on_mesh("[2]", "[pp]"),
       SEEN(pipeline.cut),
       {{on_mesh("[2]", "[dp]"),
         "applies only to a job with a mesh dim pp, and this job has the mesh dp=2"},
        {on_mesh("[1]", "[pp]", kResNet),
         "applies only to a job with a model.kind with repeated layers, and this job has "
         "model.kind: resnet"}}},
      {"placements.parameters", "{layer*.up.weight: {tp: R}, \"*.scale\": {tp: S0.1}}", "{}", kOnTp,
       SEEN_ROWS(kParameters)},
      {"placements.inputs", "{layer0: {tp: S1}}", "{}", kOnTp, SEEN_ROWS(kInputs)},
      {"placements.outputs", "{layer0.up: {tp: P(sum)}}", "{}", kOnTp, SEEN_ROWS(kOutputs)},
      {"placements.caches", "{\"*\": {tp: R}}", "{}", kOnTp, SEEN_ROWS(kCaches)},
      {"optimizer.kind",
       "momentum",
       "adamw",
       kTrain,
       [](const JobConfig& c) {
         const bool right = c.optimizer.update.kind == training::OptimizerKind::kMomentum;
         return std::string(right ? "momentum" : "another");
       },
       {kNotTraining}},
      {"optimizer.lr", "0.5", "3.0e-4", kTrain, SEEN(optimizer.rate.peak), {kNotTraining}},
      {"optimizer.betas",
       "[0.5, 0.25]",
       "[0.9, 0.95]",
       kTrain,
       [](const JobConfig& c) {
         return fmt::format("[{}, {}]", c.optimizer.update.beta1, c.optimizer.update.beta2);
       },
       {kNotTraining, kNotAdamW}},
      {"optimizer.eps",
       "0.5",
       "1.0e-8",
       kTrain,
       SEEN(optimizer.update.epsilon),
       {kNotTraining, kNotAdamW}},
      {"optimizer.weight_decay",
       "0.5",
       "0.1",
       kTrain,
       SEEN(optimizer.update.weight_decay),
       {kNotTraining}},
      {"optimizer.momentum",
       "0.5",
       "0.9",
       kMomentum,
       SEEN(optimizer.update.momentum),
       {kNotTraining, kNotMomentum}},
      {"optimizer.nesterov",
       "true",
       "false",
       kMomentum,
       SEEN(optimizer.update.nesterov),
       {kNotTraining, kNotMomentum}},
      {"optimizer.grad_clip",
       "0.5",
       "1.0",
       kTrain,
       SEEN(optimizer.update.grad_clip),
       {kNotTraining}},
      {"optimizer.schedule",
       "cosine",
       "constant",
       kTrain,
       [](const JobConfig& c) {
         const bool right = c.optimizer.rate.kind == training::LearningRateKind::kCosine;
         return std::string(right ? "cosine" : "another");
       },
       {kNotTraining}},
      {"optimizer.schedule.kind",
       "step",
       "constant",
       kTrain,
       [](const JobConfig& c) {
         const bool right = c.optimizer.rate.kind == training::LearningRateKind::kStep;
         return std::string(right ? "step" : "another");
       },
       {kNotTraining}},
      {"optimizer.schedule.warmup_steps",
       "3",
       "0",
       kTrain,
       SEEN(optimizer.rate.warmup_steps),
       {kNotTraining}},
      {"optimizer.schedule.min_ratio",
       "0.5",
       "0.1",
       kCosine,
       SEEN(optimizer.rate.min_ratio),
       {kNotTraining,
        {kTrain,
         "applies only to a job with optimizer.schedule.kind: cosine, and this job has "
         "optimizer.schedule.kind: constant"}}},
      {"optimizer.schedule.milestones",
       "[3, 5]",
       "[]",
       kStep,
       SEEN(optimizer.rate.milestones),
       {kNotTraining,
        {kCosine,
         "applies only to a job with optimizer.schedule.kind: step, and this job has "
         "optimizer.schedule.kind: cosine"}}},
      {"optimizer.schedule.gamma",
       "0.5",
       "0.1",
       kStep,
       SEEN(optimizer.rate.gamma),
       {kNotTraining, {kTrain, "applies only to a job with optimizer.schedule.kind: step"}}},
      {"run.on_nonfinite",
       "skip",
       "stop",
       {},
       [](const JobConfig& c) {
         return std::string(c.run.on_nonfinite == NonFinitePolicy::kSkip ? "skip" : "other");
       },
       {kWhileGenerating}},
      {"run.loss_jump", "6", "0", kTrain, SEEN(run.loss_jump), {kNotTraining}},
      {"checkpoint.dir", "folder", "\"\"", kTrain, SEEN(checkpoint.dir), {kNotTraining}},
      {"checkpoint.every", "7", "100", kSaves, SEEN(checkpoint.every), {kNotTraining, kNoFolder}},
      {"checkpoint.minutes",
       "1.5",
       "0",
       kSaves,
       SEEN(checkpoint.minutes),
       {kNotTraining, kNoFolder}},
      {"checkpoint.keep", "5", "3", kSaves, SEEN(checkpoint.keep), {kNotTraining, kNoFolder}},
      {"checkpoint.async",
       "false",
       "true",
       kSaves,
       SEEN(checkpoint.async),
       {kNotTraining, kNoFolder}},
      {"checkpoint.fallback",
       "other",
       "\"\"",
       kSaves,
       SEEN(checkpoint.fallback),
       {kNotTraining, kNoFolder}},
      {"elastic.dp", "[1, 4]", "[]", kSaves, SEEN(elastic.dp), {kNotTraining, kNoFolder}},
      {"memory.device", "1000", "0", {}, SEEN(memory.device)},
      {"memory.host", "1000", "0", {{"memory.device", "1MiB"}}, SEEN(memory.host), {kNoLimit}},
      {"memory.disk", "folder", "\"\"", {{"memory.device", "1MiB"}}, SEEN(memory.disk), {kNoLimit}},
      {"weights", "folder", "\"\"", {}, SEEN(weights)},
      {"generate.prompt", "abc", "\"\"", kGenerate, SEEN(generate.prompt), {kNotGenerating}},
      {"generate.tokens", "7", "64", kGenerate, SEEN(generate.tokens), {kNotGenerating}},
      {"generate.temperature",
       "0.5",
       "1.0",
       kGenerate,
       SEEN(generate.sampling.temperature),
       {kNotGenerating}},
      {"generate.top_k",
       "4",
       "0",
       kGenerate,
       SEEN(generate.sampling.top_k),
       {kNotGenerating, kNothingDrawn}},
      {"generate.top_p",
       "0.75",
       "1.0",
       kGenerate,
       SEEN(generate.sampling.top_p),
       {kNotGenerating, kNothingDrawn}},
      {"generate.seed",
       "3",
       "1",
       kGenerate,
       SEEN(generate.sampling.seed),
       {kNotGenerating, kNothingDrawn}},
      {"plan.devices", "16", "0", kTrain, SEEN(plan.devices), {kNotTraining}},
      {"plan.machine", "h100_80g", "\"\"", kTrain, SEEN(plan.machine), {kNotTraining}},
      {"plan.machine_content",
       "0123456789abcdef",
       "\"\"",
       kTrain,
       SEEN(plan.machine_content),
       {kNotTraining}},
      {"plan.step_seconds", "0.5", "0", kTrain, SEEN(plan.step_seconds), {kNotTraining}},
      {"plan.peak_bytes", "4096", "0", kTrain, SEEN(plan.peak_bytes), {kNotTraining}},
      {"plan.of",
       "{model.d_model: 32, run.dtype: bfloat16}",
       "{}",
       kTrain,
       SEEN(plan.of),
       {kNotTraining}},
  };
  return cases;
}

}  // namespace phi::job
