// Converts sections of a job file to options of the library.
#include "tools/job/build.h"

#include <fmt/format.h>

#include <map>
#include <utility>

#include "api/nn/checkpoint.h"
#include "api/nn/layout/shard.h"
#include "api/nn/models/described_model.h"
#include "api/nn/models/model_checkpoint.h"
#include "phi/core/storage/memory_ledger.h"
#include "tools/job/job_changes.h"

namespace phi::job {
namespace {

constexpr int64_t kBytes = 256;  // only ids of bytes are text

}  // namespace

std::unique_ptr<nn::Sequential> build_model(const JobConfig& config,
                                            const distributed::ProcessMesh& mesh,
                                            const distributed::checkpoint::Checkpoint* weights) {
  const MemoryUseScope use(MemoryUse::kWeights);
  const nn::models::ModelKind& kind = config.model.row();
  auto model = kind.make(config.model.values);
  model->initialise(static_cast<uint64_t>(config.model.seed), config.run.dtype);
  if (weights) nn::load(*weights, model.get());
  const nn::TransformerLayoutOptions split{.sequence_parallel = config.run.sequence_parallel,
                                           .zero_stage = static_cast<int>(config.run.zero_stage),
                                           .chunks = config.run.chunks,
                                           .cut = config.pipeline.cut};
  nn::Layout layout = nn::transformer_layout(*model, mesh, split);
  layout.add(kind.placements);
  layout.add(config.placements);
  nn::shard(*model, mesh, layout.only_along(mesh));
  return model;
}

training::TrainerOptions trainer_options(const JobConfig& config) {
  const RunConfig& run = config.run;
  return {.trains = config.mode == "train",
          .optimizer = config.optimizer.update,
          .rate = config.optimizer.rate,
          .micro_batches = run.micro_batches,
          .schedule = run.schedule,
          .recompute = run.recompute,
          .capture = run.capture,
          .graphs = run.graphs,
          .memory = program_memory(config.memory),
          .on_nonfinite = run.on_nonfinite == NonFinitePolicy::kStop
                              ? training::OnNonFinite::kStop
                              : training::OnNonFinite::kSkip};
}

training::CheckpointerOptions checkpointer_options(const JobConfig& config,
                                                   const distributed::ConfigEntries& entries) {
  const CheckpointConfig& checkpoint = config.checkpoint;
  auto metadata = std::map<std::string, std::string>{
      {nn::models::kModelKey, nn::models::describe_model(config.model.row(), config.model.values)}};
  metadata[kJobKey] = distributed::to_json(entries);
  return {.folder = checkpoint.dir,
          .every = checkpoint.every,
          .minutes = checkpoint.minutes,
          .keep = checkpoint.keep,
          .async = checkpoint.async,
          .fallback = checkpoint.fallback,
          .roll_back = config.run.on_nonfinite == NonFinitePolicy::kRollBack,
          .metadata = std::move(metadata),
          .check_metadata = [entries](const auto& saved) { changes_since(saved, entries); }};
}

generation::GeneratorOptions generator_options(const JobConfig& config) {
  return {.window = config.model.values.size("seq_len"),
          .num_tokens = kBytes,
          .sampling = config.generate.sampling,
          .capture = config.run.capture,
          .graphs = config.run.graphs,
          .memory = program_memory(config.memory)};
}

std::vector<int64_t> prompt_of(const JobConfig& config) {
  const std::string& prompt = config.generate.prompt.empty() ? "\n" : config.generate.prompt;
  std::vector<int64_t> ids;
  for (const char byte : prompt) ids.push_back(static_cast<uint8_t>(byte));
  return ids;
}

std::vector<training::Batch> batches_of(const JobConfig& config, const data::SampleData& data,
                                        int64_t number) {
  const MemoryUseScope use(MemoryUse::kData);
  const RunConfig& run = config.run;
  std::vector<training::Batch> batches;
  for (int64_t i = 0; i < run.micro_batches; ++i) {
    const int64_t row = ((number - 1) * run.micro_batches + i) * run.micro_batch_size();
    batches.push_back(
        {data.inputs(row, run.micro_batch_size()), data.labels(row, run.micro_batch_size())});
  }
  return batches;
}

Dims input_shape(const JobConfig& config) {
  const int64_t batch = config.run.micro_batch_size();
  const nn::models::ModelValues& model = config.model.values;
  const int64_t size = config.data.image_size;
  if (config.model.takes_images()) return {batch, model.size("channels"), size, size};
  return {batch, model.size("seq_len")};
}

DataType input_dtype(const JobConfig& config) {
  return config.model.takes_images() ? config.run.dtype : DataType::INT64;
}

int64_t items_per_sample(const JobConfig& config) {
  return config.model.takes_images() ? 1 : config.model.values.size("seq_len");
}

ProgramMemory program_memory(const MemoryConfig& memory) {
  ProgramMemory out;
  if (!memory.is_limited()) return out;
  // The disk has no limit of its own; the file system reports when it is full.
  constexpr int64_t kWholeDisk = int64_t{1} << 50;
  out.limits = {.device_bytes = memory.device,
                .host_bytes = memory.host,
                .disk_bytes = memory.disk.empty() ? 0 : kWholeDisk};
  if (!memory.disk.empty()) out.disk_folder = memory.disk;
  out.machine = memory.machine;
  return out;
}

void adjust_for_generate(JobConfig* config) {
  const auto length = static_cast<int64_t>(config->generate.prompt.size());
  const int64_t seq_len = config->model.values.size("seq_len");
  if (length > seq_len) {
    throw config->wrong(
        {"generate.prompt", "model.seq_len"},
        fmt::format(
            "the prompt has {} bytes and the model reads at most {} (model.seq_len); shorten it.",
            length, seq_len));
  }
  if (config->model.values.has("dropout")) config->model.values.set("dropout", 0.0);
}

}  // namespace phi::job
