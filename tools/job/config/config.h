// JobConfig: the checked contents of a job file. Every key has a default; together they describe a
// small job.
//
//   | mode: forward                 # forward | train | generate
//   | place: cpu                    # cpu | gpu: each rank computes on a GPU of its machine
//   | ops: [libmy_ops.so]           # libraries of operators
//   | models: [libmy_models.so]     # libraries of kinds of models
//   | model: {kind: gpt, vocab: 256, seq_len: 256, d_model: 384, layers: 6, heads: 6, mlp_ratio: 4,
//   |         activation: gelu_tanh, dropout: 0.0, seed: 1}
//   | model: {kind: llama, vocab: 256, seq_len: 256, d_model: 384, layers: 6, heads: 6,
//   |         kv_heads: 6, ffn: 1024, rope_base: 10000, qkv_bias: false, norm_eps: 1e-5,
//   |         tied_head: false, seed: 1}
//   | model: {kind: resnet, blocks: [2, 2, 2, 2], width: 64, channels: 3, classes: 10, seed: 1}
//   | mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}     # product = number of processes
//   | data: {kind: bytes, paths: [phi, distributed], documents: joined, seed: 1}  # files, folders
//   | data: {kind: tokens, paths: [train.bin], dtype: uint16, seed: 1}       # files of token ids
//   | data: {kind: megatron, paths: [text_document], documents: joined, seed: 1}   # .bin and .idx
//   | data: {kind: images, paths: [train], format: folders, image_size: 32, mean: [0.5],
//   |        std: [0.5], seed: 1}                     # for models of images
//   | run: {steps: 4, global_batch: 8, micro_batches: 4, dtype: float32, tf32: false,
//   |       messages: nccl, reduction: exact,          # of GPUs: nccl | host, exact | fast
//   |       sequence_parallel: false, capture: false, graphs: true, schedule: 1f1b, chunks: 1,
//   |       zero_stage: 0, recompute: none, save: "", loss_jump: 0,
//   |       on_nonfinite: stop}                        # stop | skip | rollback
//   | pipeline: {cut: [7, 9, 9, 7]}                    # layers of each chunk; [] is even
//   | placements: {parameters: {layer*.up.weight: {tp: S1}}, inputs: {}, outputs: {}, caches: {}}
//   | optimizer: {kind: adamw, lr: 3e-4, betas: [0.9, 0.95], eps: 1e-8, weight_decay: 0.1,
//   |             grad_clip: 1.0, schedule: {kind: cosine, warmup_steps: 10}}
//   | checkpoint: {dir: runs/gpt, every: 100, minutes: 0, keep: 3, async: true, fallback: ""}
//   | elastic: {dp: [1, 4]}                            # extents that autophi supervise may choose
//   | memory: {device: 256MiB, host: 1GiB, disk: /tmp} # of each rank; swaps what has no room
//   | weights: DIR                                     # of a job, or Hugging Face's
//   | generate: {prompt: "", tokens: 64, temperature: 1.0, top_k: 0, top_p: 1.0, seed: 1}
//   | plan: {devices: 16, machine: h100_80g, of: {..}}     # written by autophi plan
//
// Every problem is one InvalidArgument `FILE:LINE: key 'model.heads': ...`. The message for an
// unknown key names the nearest one; for a key that this job does not read (job_keys.h), it names
// what would read it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <memory>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "api/data/data_options.h"
#include "api/data/images/image_options.h"
#include "api/generation/sampler.h"
#include "api/nn/layout/layout.h"
#include "api/nn/models/model_kind.h"
#include "api/nn/recompute.h"
#include "api/training/learning_rate.h"
#include "api/training/optimizer_config.h"
#include "phi/common/dtype.h"
#include "phi/common/errors.h"

namespace phi::distributed::simulator {
struct MachineModel;
}

namespace phi::job {

struct ModelConfig {
  std::string kind = "gpt";
  int64_t seed = 1;
  nn::models::ModelValues values = {};  // of the keys of the kind

  /// The row of the kind. Errors: as nn::models::model_kind.
  const nn::models::ModelKind& row() const { return nn::models::model_kind(kind); }
  bool takes_images() const { return row().samples == nn::models::SampleKind::kImages; }
  /// The rate of the key `dropout`; 0 for a kind without it.
  double dropout() const { return values.has("dropout") ? values.number("dropout") : 0.0; }
};

/// Mesh dims in the order of rank numbering: the last varies fastest.
struct MeshConfig {
  std::vector<int64_t> shape;
  std::vector<std::string> dims;

  int64_t num_ranks() const;
  /// Extent of the named mesh dim; 1 if the mesh has none of this name.
  int64_t extent(std::string_view name) const;
  /// "dp=2 pp=2 tp=2"
  std::string to_string(std::string_view separator = " ") const;
};

struct DataConfig {
  data::DataKind kind = data::DataKind::kBytes;
  std::vector<std::string> paths = {"phi", "distributed"};  // default for kind bytes only
  data::TokenType dtype = data::TokenType::kUint16;         // for kind tokens
  data::Documents documents = data::Documents::kJoined;
  int64_t seed = 1;
  // Only for kind images.
  data::ImageFormat format = data::ImageFormat::kFolders;
  int64_t image_size = 32;
  std::vector<double> mean = {0.5};
  std::vector<double> std = {0.5};
};

using nn::Recompute;

/// The reaction of a job to a loss or gradients that are not finite. kRollBack: returns to the
/// newest checkpoint and continues after the faulty batch.
enum class NonFinitePolicy : uint8_t { kStop, kSkip, kRollBack };

struct RunConfig {
  int64_t steps = 4;
  int64_t global_batch = 8;
  int64_t micro_batches = 4;
  DataType dtype = DataType::FLOAT32;
  bool tf32 = false;                // on GPUs, float32 matmuls round arguments to TF32
  std::string messages = "nccl";    // between GPUs: nccl | host
  std::string reduction = "exact";  // by NCCL: exact | fast
  bool sequence_parallel = false;
  bool capture = false;           // steps run a captured program
  bool graphs = true;             // GPUs launch its steps as CUDA graphs
  std::string schedule = "1f1b";  // pipeline schedule
  int64_t chunks = 1;             // per stage
  int64_t zero_stage = 0;
  Recompute recompute = Recompute::kNone;
  std::string save;  // folder for the parameters at the end; empty: not saved
  NonFinitePolicy on_nonfinite = NonFinitePolicy::kStop;
  double loss_jump = 0.0;  // standard deviations above recent losses; 0: jumps are not reported

  int64_t micro_batch_size() const { return global_batch / micro_batches; }
};

struct PipelineConfig {
  /// The number of layers of each chunk, in the order of the model; empty: evenly.
  std::vector<int64_t> cut{};
};

/// Checkpoints during training. Without a folder there are none.
struct CheckpointConfig {
  std::string dir{};
  int64_t every = 100;     // in steps; 0: not by step number
  double minutes = 0.0;    // 0: not by time
  int64_t keep = 3;        // number of newest checkpoints to keep
  bool async = true;       // written while training continues
  std::string fallback{};  // folder for a save that fails in `dir`
};

/// Range of mesh extents from which autophi supervise chooses as machines come and go.
struct ElasticConfig {
  std::vector<int64_t> dp{};  // minimum and maximum; empty: that of the mesh

  bool is_elastic() const { return !dp.empty(); }
};

/// Limits on the bytes of a rank. Without a device limit nothing is swapped.
struct MemoryConfig {
  int64_t device = 0;  // 0: no limit
  int64_t host = 0;    // for values that exceed the device limit
  std::string disk;    // folder for a swap file, for values that exceed the host limit; empty: none
  /// Set by --machine: the times of steps, from which transfers are timed.
  std::shared_ptr<const distributed::simulator::MachineModel> machine = nullptr;

  bool is_limited() const { return device > 0; }
};

struct JobOptimizer {
  training::OptimizerConfig update{.beta2 = 0.95, .weight_decay = 0.1, .grad_clip = 1.0};
  training::LearningRateSchedule rate;
};

struct GenerateConfig {
  std::string prompt{};
  int64_t tokens = 64;
  generation::SamplerOptions sampling;
};

/// The plan that chose the layout of the job, and the job that was planned.
struct PlanConfig {
  int64_t devices = 0;            // 0: any number of processes
  std::string machine{};          // name or path, as --machine had it
  std::string machine_content{};  // fingerprint of the machine; empty: any machine
  double step_seconds = 0;        // predicted; 0: unknown
  int64_t peak_bytes = 0;         // predicted, of tensors of the fullest rank; 0: unknown
  /// The planned values of the keys that change a step, without those that have their defaults;
  /// empty: unknown.
  std::map<std::string, std::string> of{};
};

struct JobConfig {
  std::string mode = "forward";
  std::string place = "cpu";
  ModelConfig model;
  MeshConfig mesh;  // empty until set by the file, --mesh, or resolve_mesh
  DataConfig data;
  RunConfig run;
  PipelineConfig pipeline;
  nn::Layout placements;  // rows in addition to those of the model
  JobOptimizer optimizer;
  CheckpointConfig checkpoint;
  ElasticConfig elastic;
  MemoryConfig memory;
  std::vector<std::string> ops;     // libraries of operators, which every process loads
  std::vector<std::string> models;  // libraries of kinds of models, which every process loads
  std::string weights;              // folder with initial parameters; empty: random initialisation
  GenerateConfig generate;
  PlanConfig plan;

  /// The file's name as given, and the line of each key in it ("model.heads" -> 4).
  std::string file;
  std::map<std::string, int> lines;
  /// Keys that differ from their defaults and that neither the job in the file nor the settled job
  /// reads, as far as known.
  std::set<std::string> unread;

  /// The flag that set a key, with its value: "--pin=head.weight={tp: R}".
  std::map<std::string, std::string> flags{};

  /// `FLAG: message` for the first of `keys` that a flag set, else `FILE:LINE: key 'x.y': message`
  /// for the first that the file contains; if it contains none, for the first, without a line.
  Error wrong(std::span<const std::string> keys, std::string_view message) const;
  Error wrong(std::initializer_list<std::string> keys, std::string_view message) const {
    return wrong(std::span(keys.begin(), keys.size()), message);
  }
};

/// Reads and checks a job file, and loads its libraries of models. Keys that the job does not read
/// are checked later by resolve_mesh, when command-line overrides are known. Errors: NotFound if
/// the file cannot be read; InvalidArgument as described above.
JobConfig load_job(const std::string& file);
/// The same from text; `file` is named in errors.
JobConfig parse_job(const std::string& text, const std::string& file);

/// "2x2x2" (dp, pp, tp), "4" (dp) or "dp=2,tp=2". Errors: InvalidArgument naming --mesh.
MeshConfig parse_mesh_flag(const std::string& text);

/// Determines the mesh for `world_size` processes: the flag's if given, else the file's, else all
/// processes along dp. One process runs any job on a mesh of one rank; `note` then says so.
/// Errors: InvalidArgument, with both numbers and a remedy, if the mesh does not fit the processes
/// or the model, `pipeline` or `placements` do not fit the mesh; for a key that neither the job in
/// the file nor this one reads, with the condition for it.
void resolve_mesh(JobConfig* config, int64_t world_size, const std::string& mesh_flag,
                  std::string* note);

}  // namespace phi::job
