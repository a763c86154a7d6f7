// Reads job files section by section; every key has a name, type and range.
#include "tools/job/config/config.h"

#include <fmt/ranges.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <optional>
#include <sstream>

#include "phi/yaml/yaml_text.h"
#include "tools/job/config/keys/job_keys.h"
#include "tools/job/config/read_layout.h"
#include "tools/job/config/read_model.h"
#include "tools/job/config/section.h"

namespace phi::job {
namespace {

const std::vector<std::string> kMeshDims = {"dp", "pp", "tp"};
const std::vector<std::string> kScheduleNames = {"gpipe", "1f1b", "interleaved", "zb_h1", "zb_h2"};
constexpr int64_t kMaxRanks = int64_t{1} << 24;
constexpr int64_t kMaxImageSize = 8192;
constexpr double kMaxStatistic = 1e6;
constexpr double kMaxStepSeconds = 1e9;

// The default dims of a mesh without dims: all three, or dp for a 1-D mesh.
std::vector<std::string> default_dims(size_t ndim) {
  if (ndim == kMeshDims.size()) return kMeshDims;
  return ndim == 1 ? std::vector<std::string>{"dp"} : std::vector<std::string>{};
}

// Describes what is wrong with a mesh; empty if it is valid.
std::string mesh_fault(const MeshConfig& mesh) {
  if (mesh.shape.empty()) return "shape must name at least one extent.";
  if (mesh.dims.size() != mesh.shape.size()) {
    return fmt::format("{} extents need the same number of names in dims (of dp, pp, tp), got {}.",
                       mesh.shape.size(), mesh.dims.size());
  }
  for (size_t i = 0; i < mesh.dims.size(); ++i) {
    if (std::find(kMeshDims.begin(), kMeshDims.end(), mesh.dims[i]) == kMeshDims.end()) {
      return fmt::format("mesh dim '{}' is not one of dp, pp, tp.", mesh.dims[i]);
    }
    if (std::count(mesh.dims.begin(), mesh.dims.end(), mesh.dims[i]) > 1) {
      return fmt::format("mesh dim '{}' is named twice.", mesh.dims[i]);
    }
  }
  int64_t ranks = 1;
  for (int64_t extent : mesh.shape) {
    ranks *= extent;
    if (extent < 1 || ranks > kMaxRanks) {
      return fmt::format("extents must be 1 or more and their product at most {}.", kMaxRanks);
    }
  }
  return "";
}

void read_mesh(JobConfig* config, const Section& section) {
  section.read("shape", 1, kMaxRanks, &config->mesh.shape);
  section.read("dims", "mesh dim names", &config->mesh.dims);
  const bool has_dims = config->lines.contains("mesh.dims");
  if (!config->lines.contains("mesh.shape")) {
    if (has_dims) throw config->wrong({"mesh.dims"}, "dims need a shape; set mesh.shape too.");
    return;
  }
  if (!has_dims) config->mesh.dims = default_dims(config->mesh.shape.size());
  const std::string fault = mesh_fault(config->mesh);
  if (!fault.empty()) throw config->wrong({has_dims ? "mesh.dims" : "mesh.shape"}, fault);
}

// Text is bytes, so ids range up to 255.
void check_vocab(const JobConfig& config) {
  constexpr int64_t kBytes = 256;
  if (config.model.takes_images()) return;
  const int64_t vocab = config.model.values.size("vocab");
  if (vocab >= kBytes) return;
  const bool generates = config.mode == "generate";
  if (!generates && config.data.kind != data::DataKind::kBytes) return;
  throw config.wrong({"model.vocab"},
                     fmt::format("{} is less than 256: {}. Use 256 or more{}.", vocab,
                                 generates ? "mode generate writes text, one byte per token"
                                           : "data of kind bytes has ids up to 255",
                                 generates ? "" : ", or data.kind: tokens or megatron"));
}

void read_images(JobConfig* config, const Section& section) {
  DataConfig& data = config->data;
  std::string format(name_of(data.format));
  section.read_choice("format", data::image_format_names(), &format);
  data.format = data::parse_image_format(format);
  section.read("image_size", 1, kMaxImageSize, &data.image_size);
  section.read("mean", -kMaxStatistic, kMaxStatistic, &data.mean);
  section.read("std", 1.0 / kMaxStatistic, kMaxStatistic, &data.std);
}

// Numbers for all channels or for each.
void check_statistics(const JobConfig& config, const char* key, const std::vector<double>& values) {
  const int64_t channels = config.model.values.size("channels");
  if (values.size() == 1 || std::ssize(values) == channels) return;
  throw config.wrong({key, "model.channels"},
                     fmt::format("must be one number, or one for each of the {} channels; got {}.",
                                 channels, values.size()));
}

void check_images(const JobConfig& config) {
  const nn::models::ModelValues& model = config.model.values;
  const int64_t channels = model.size("channels");
  if (channels != 1 && channels != 3) {
    throw config.wrong(
        {"model.channels"},
        fmt::format("images have 1 channel (luma) or 3 (red, green, blue), not {}.", channels));
  }
  check_statistics(config, "data.mean", config.data.mean);
  check_statistics(config, "data.std", config.data.std);
  if (!model.has("image_size") || model.size("image_size") == config.data.image_size) return;
  throw config.wrong({"data.image_size", "model.image_size"},
                     fmt::format("is {}, and model.image_size is {}; both must be the same.",
                                 config.data.image_size, model.size("image_size")));
}

// The data must be what the model takes.
void check_samples(const JobConfig& config) {
  const bool takes_images = config.model.takes_images();
  if (config.mode == "generate") {
    if (!takes_images) return;
    throw config.wrong({"mode", "model.kind"},
                       fmt::format("mode generate writes text, and a model of kind {} takes "
                                   "images; use mode train or forward.",
                                   config.model.kind));
  }
  if (takes_images != (config.data.kind == data::DataKind::kImages)) {
    throw config.wrong({"data.kind", "model.kind"},
                       fmt::format("is {}, and a model of kind {} takes {}.",
                                   name_of(config.data.kind), config.model.kind,
                                   takes_images ? "images; set data: {kind: images, paths: [..]}"
                                                : "token ids; use bytes, tokens or megatron"));
  }
  if (takes_images) check_images(config);
}

void read_data(JobConfig* config, const Section& section) {
  DataConfig& data = config->data;
  std::string kind(name_of(data.kind));
  section.read_choice("kind", {"bytes", "tokens", "megatron", "images"}, &kind);
  data.kind = data::parse_data_kind(kind);
  section.read("paths", "files or folders", &data.paths);
  std::string dtype(name_of(data.dtype));
  section.read_choice("dtype", data::token_type_names(), &dtype);
  data.dtype = data::parse_token_type(dtype);
  std::string documents(name_of(data.documents));
  section.read_choice("documents", {"joined", "apart"}, &documents);
  data.documents = data::parse_documents(documents);
  section.read("seed", 0, INT64_MAX, &data.seed);
  if (data.paths.empty()) throw config->wrong({"data.paths"}, "name at least one path.");
  const bool has_default = data.kind == data::DataKind::kBytes || config->mode == "generate";
  if (!has_default && !config->lines.contains("data.paths")) {
    throw config->wrong({"data.kind"}, fmt::format("name the files of {} in data.paths.", kind));
  }
  read_images(config, section);
  check_samples(*config);
  check_vocab(*config);
}

void read_run(JobConfig* config, const Section& section) {
  RunConfig& run = config->run;
  section.read("steps", 0, INT32_MAX, &run.steps);
  section.read("global_batch", 1, kMaxExtent, &run.global_batch);
  section.read("micro_batches", 1, kMaxExtent, &run.micro_batches);
  section.read("sequence_parallel", &run.sequence_parallel);
  section.read("capture", &run.capture);
  section.read("graphs", &run.graphs);
  std::string dtype(name_of(run.dtype));
  section.read_choice("dtype", {"float32", "bfloat16", "float16"}, &dtype);
  run.dtype = parse_dtype(dtype);
  section.read("tf32", &run.tf32);
  section.read_choice("messages", {"nccl", "host"}, &run.messages);
  section.read_choice("reduction", {"exact", "fast"}, &run.reduction);
  section.read_choice("schedule", kScheduleNames, &run.schedule);
  section.read("chunks", 1, kMaxExtent, &run.chunks);
  section.read("zero_stage", 0, 3, &run.zero_stage);
  std::string recompute = "none";
  section.read_choice("recompute", {"none", "selective", "full"}, &recompute);
  run.recompute = recompute == "full"        ? Recompute::kFull
                  : recompute == "selective" ? Recompute::kSelective
                                             : Recompute::kNone;
  section.read("save", &run.save);
  std::string policy = "stop";
  section.read_choice("on_nonfinite", {"stop", "skip", "rollback"}, &policy);
  run.on_nonfinite = policy == "skip"       ? NonFinitePolicy::kSkip
                     : policy == "rollback" ? NonFinitePolicy::kRollBack
                                            : NonFinitePolicy::kStop;
  section.read("loss_jump", 0.0, 1e6, &run.loss_jump);
  if (run.steps == 0 && run.save.empty()) {
    throw config->wrong(
        {"run.steps"},
        "a job of 0 steps only writes its initial weights; set run.save, or 1 or more run.steps.");
  }
  if (run.global_batch % run.micro_batches != 0) {
    throw config->wrong(
        {"run.micro_batches", "run.global_batch"},
        fmt::format("{} micro-batches do not divide global_batch {}; all must have the same size.",
                    run.micro_batches, run.global_batch));
  }
  if (run.capture && config->model.dropout() > 0.0) {
    throw config->wrong(
        {"run.capture", "model.dropout"},
        "dropout draws new random numbers in each step, and a captured step repeats its numbers; "
        "set model.dropout to 0, or run.capture to false.");
  }
}

void read_checkpoint(JobConfig* config, const Section& section) {
  CheckpointConfig& checkpoint = config->checkpoint;
  section.read("dir", &checkpoint.dir);
  section.read("every", 0, INT32_MAX, &checkpoint.every);
  section.read("minutes", 0.0, 1e6, &checkpoint.minutes);
  section.read("keep", 1, INT32_MAX, &checkpoint.keep);
  section.read("async", &checkpoint.async);
  section.read("fallback", &checkpoint.fallback);
  if (!checkpoint.fallback.empty() && checkpoint.fallback == checkpoint.dir) {
    throw config->wrong({"checkpoint.fallback"},
                        "is checkpoint.dir itself; name a folder elsewhere.");
  }
  if (config->run.on_nonfinite == NonFinitePolicy::kRollBack && checkpoint.dir.empty()) {
    throw config->wrong(
        {"run.on_nonfinite"},
        "there are no checkpoints to roll back to; set checkpoint.dir, or choose stop or skip.");
  }
}

void read_elastic(JobConfig* config, const Section& section) {
  std::vector<int64_t>& dp = config->elastic.dp;
  section.read("dp", 1, kMaxRanks, &dp);
  if (dp.empty()) return;
  if (dp.size() != 2 || dp[0] > dp[1]) {
    throw config->wrong({"elastic.dp"},
                        fmt::format("must be the least and the most extent of dp, e.g. [1, 4]; got "
                                    "[{}].",
                                    fmt::join(dp, ", ")));
  }
}

// Swapping must know the steps in advance, so the job runs them as a captured program.
void read_memory(JobConfig* config, const Section& section) {
  MemoryConfig& memory = config->memory;
  section.read_bytes("device", &memory.device);
  section.read_bytes("host", &memory.host);
  section.read("disk", &memory.disk);
  if (!memory.is_limited()) return;
  if (config->mode == "train" && config->run.dtype != DataType::FLOAT32) {
    throw config->wrong({"memory.device", "run.dtype"},
                        "training with swapping is in float32; set run.dtype to that.");
  }
  if (config->model.dropout() > 0.0 && config->mode != "generate") {
    throw config->wrong({"memory.device", "model.dropout"},
                        "a swapped step is captured, and a captured step cannot draw dropout; set "
                        "model.dropout to 0.");
  }
  config->run.capture = true;
}

void read_rate(JobConfig* config, const Section& optimizer) {
  training::LearningRateSchedule& rate = config->optimizer.rate;
  std::string kind = "constant";
  const std::vector<std::string> kinds = {"constant", "cosine", "step"};
  if (optimizer.child("schedule").IsMap()) {
    const Section section(config, "optimizer.schedule.", optimizer.child("schedule"));
    section.read_choice("kind", kinds, &kind);
    section.read("warmup_steps", 0, INT32_MAX, &rate.warmup_steps);
    section.read("min_ratio", 0.0, 1.0, &rate.min_ratio);
    section.read("milestones", 1, INT32_MAX, &rate.milestones);
    section.read("gamma", 0.0, 1.0, &rate.gamma);
  } else {
    optimizer.read_choice("schedule", kinds, &kind);
  }
  rate.kind = kind == "cosine" ? training::LearningRateKind::kCosine
              : kind == "step" ? training::LearningRateKind::kStep
                               : training::LearningRateKind::kConstant;
  rate.total_steps = config->run.steps;
}

void read_optimizer(JobConfig* config, const Section& section) {
  training::OptimizerConfig& optimizer = config->optimizer.update;
  std::string kind = "adamw";
  section.read_choice("kind", {"sgd", "momentum", "adamw"}, &kind);
  optimizer.kind = kind == "sgd"        ? training::OptimizerKind::kSgd
                   : kind == "momentum" ? training::OptimizerKind::kMomentum
                                        : training::OptimizerKind::kAdamW;
  section.read("lr", 0.0, 1e6, &config->optimizer.rate.peak);
  std::vector<double> betas = {optimizer.beta1, optimizer.beta2};
  section.read("betas", 0.0, 1.0 - 1e-12, &betas);
  if (betas.size() != 2) {
    throw config->wrong(
        {"optimizer.betas"},
        fmt::format("must be two numbers, e.g. [0.9, 0.95]; got {}.", betas.size()));
  }
  optimizer.beta1 = betas[0];
  optimizer.beta2 = betas[1];
  section.read("eps", 0.0, 1.0, &optimizer.epsilon);
  section.read("weight_decay", 0.0, 1e6, &optimizer.weight_decay);
  section.read_fraction("momentum", &optimizer.momentum);
  section.read("nesterov", &optimizer.nesterov);
  section.read("grad_clip", 0.0, 1e12, &optimizer.grad_clip);
  read_rate(config, section);
}

void read_generate(JobConfig* config, const Section& section) {
  GenerateConfig* generate = &config->generate;
  section.read("prompt", &generate->prompt);
  section.read("tokens", 1, kMaxExtent, &generate->tokens);
  section.read("temperature", 0.0, 1e6, &generate->sampling.temperature);
  section.read("top_k", 0, kMaxExtent, &generate->sampling.top_k);
  section.read("top_p", 0.0, 1.0, &generate->sampling.top_p);
  section.read("seed", 0, INT64_MAX, &generate->sampling.seed);
  if (generate->sampling.top_p == 0.0) {
    throw config->wrong({"generate.top_p"},
                        "0 keeps no token; use 1 for all, temperature 0 for the likeliest.");
  }
}

void read_plan(JobConfig* config, const Section& section) {
  PlanConfig& plan = config->plan;
  section.read("devices", 0, kMaxRanks, &plan.devices);
  section.read("machine", &plan.machine);
  section.read("machine_content", &plan.machine_content);
  section.read("step_seconds", 0.0, kMaxStepSeconds, &plan.step_seconds);
  section.read("peak_bytes", 0, INT64_MAX, &plan.peak_bytes);
  section.read("of", &plan.of);
}

}  // namespace

int64_t MeshConfig::num_ranks() const {
  int64_t ranks = 1;
  for (int64_t extent : shape) ranks *= extent;
  return ranks;
}

int64_t MeshConfig::extent(std::string_view name) const {
  const auto found = std::find(dims.begin(), dims.end(), name);
  return found == dims.end() ? 1 : shape[found - dims.begin()];
}

std::string MeshConfig::to_string(std::string_view separator) const {
  std::string out;
  for (size_t i = 0; i < dims.size(); ++i) {
    out += fmt::format("{}{}={}", i == 0 ? "" : separator, dims[i], shape[i]);
  }
  return out;
}

Error JobConfig::wrong(std::span<const std::string> keys, std::string_view message) const {
  for (const std::string& key : keys) {
    const auto flag = flags.find(key);
    if (flag != flags.end()) return errors::InvalidArgument("{}: {}", flag->second, message);
  }
  for (const std::string& key : keys) {
    const auto line = lines.find(key);
    if (line == lines.end()) continue;
    return errors::InvalidArgument("{}:{}: key '{}': {}", file, line->second, key, message);
  }
  return errors::InvalidArgument("{}: key '{}' (by default): {}", file, keys.front(), message);
}

JobConfig parse_job(const std::string& text, const std::string& file) {
  const YAML::Node root = yaml::load(text, file);
  JobConfig config;
  config.file = file;
  const Section top(&config, "", root);
  top.read_choice("mode", {"forward", "train", "generate"}, &config.mode);
  top.read_choice("place", {"cpu", "gpu"}, &config.place);
  top.read("models", "libraries of models", &config.models);
  read_model(top.child("model"), &config);
  read_mesh(&config, {&config, "mesh.", top.child("mesh")});
  read_data(&config, {&config, "data.", top.child("data")});
  read_run(&config, {&config, "run.", top.child("run")});
  read_pipeline(top.child("pipeline"), &config);
  read_placements(top.child("placements"), &config);
  read_optimizer(&config, {&config, "optimizer.", top.child("optimizer")});
  read_checkpoint(&config, {&config, "checkpoint.", top.child("checkpoint")});
  read_elastic(&config, {&config, "elastic.", top.child("elastic")});
  read_memory(&config, {&config, "memory.", top.child("memory")});
  top.read("ops", "libraries of operators", &config.ops);
  top.read("weights", &config.weights);
  read_generate(&config, {&config, "generate.", top.child("generate")});
  read_plan(&config, {&config, "plan.", top.child("plan")});
  note_read_keys(&config);
  return config;
}

JobConfig load_job(const std::string& file) {
  return parse_job(yaml::read_text(file, "job file"), file);
}

MeshConfig parse_mesh_flag(const std::string& text) {
  const auto fail = [&](const std::string& why) {
    throw errors::InvalidArgument("--mesh={}: {} Write 2x2x2 (dp, pp, tp), 4 (dp) or dp=2,tp=2.",
                                  text, why);
  };
  MeshConfig mesh;
  const bool named = text.find('=') != std::string::npos;
  if (!text.empty() && (text.back() == ',' || text.back() == 'x')) fail("it ends too early.");
  std::istringstream in(text);
  for (std::string part; std::getline(in, part, named ? ',' : 'x');) {
    const size_t equals = part.find('=');
    if (named && equals == std::string::npos) fail(fmt::format("'{}' has no name.", part));
    if (named) mesh.dims.push_back(part.substr(0, equals));
    const std::string digits = named ? part.substr(equals + 1) : part;
    const bool number =
        !digits.empty() && digits.size() <= 9 &&
        std::all_of(digits.begin(), digits.end(), [](char c) { return c >= '0' && c <= '9'; });
    if (!number) fail(fmt::format("'{}' is not a number of ranks.", digits));
    mesh.shape.push_back(std::stoll(digits));
  }
  if (!named) mesh.dims = default_dims(mesh.shape.size());
  const std::string fault = mesh_fault(mesh);
  if (!fault.empty()) fail(fault);
  return mesh;
}

namespace {

void check_num_ranks(const JobConfig& config, int64_t world_size, bool from_flag) {
  const int64_t ranks = config.mesh.num_ranks();
  if (ranks == world_size) return;
  const std::string message = fmt::format(
      "the mesh {} has {} ranks, but {} process{} running. Start it with `mpirun -n {}`, or set a "
      "mesh of {} (mesh.shape in the file, or --mesh).",
      config.mesh.to_string(), ranks, world_size, world_size == 1 ? " is" : "es are", ranks,
      world_size);
  if (from_flag) throw errors::InvalidArgument("--mesh: {}", message);
  throw config.wrong({"mesh.shape"}, message);
}

}  // namespace

void resolve_mesh(JobConfig* config, int64_t world_size, const std::string& mesh_flag,
                  std::string* note) {
  const bool from_flag = !mesh_flag.empty();
  const MeshConfig of_file = config->mesh;
  if (from_flag) config->mesh = parse_mesh_flag(mesh_flag);
  if (config->mesh.shape.empty()) config->mesh = {{world_size}, {"dp"}};
  if (!from_flag && world_size == 1 && config->mesh.num_ranks() != 1) {
    *note = fmt::format(
        "note: one process, so the job runs on a mesh of 1 instead of {}; start {} "
        "with `mpirun -n {}` for that.",
        config->mesh.to_string(), config->mesh.num_ranks(), config->mesh.num_ranks());
    config->mesh.shape.assign(config->mesh.shape.size(), 1);
  }
  check_num_ranks(*config, world_size, from_flag);
  check_keys_are_read(config);
  check_model_fits_mesh(*config);
  settle_layout(of_file, config);
}

}  // namespace phi::job
