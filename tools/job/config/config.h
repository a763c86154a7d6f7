// JobConfig: what a job file says, checked. All keys have defaults that make a small job.
//
//   | mode: forward                 # forward | train | generate
//   | place: cpu                    # cpu | gpu: each rank computes on a GPU of its machine
//   | ops: [libmy_ops.so]           # libraries of operators
//   | model: {kind: gpt, vocab: 256, seq_len: 256, d_model: 384, layers: 6, heads: 6, mlp_ratio: 4,
//   |         activation: gelu_tanh, dropout: 0.0, seed: 1}
//   | model: {kind: llama, vocab: 256, seq_len: 256, d_model: 384, layers: 6, heads: 6,
//   |         kv_heads: 6, ffn: 1024, rope_base: 10000, qkv_bias: false, norm_eps: 1e-5,
//   |         tied_head: false, seed: 1}
//   | mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}     # product = number of processes
//   | data: {kind: bytes, paths: [phi, distributed], documents: joined, seed: 1}  # files, folders
//   | data: {kind: tokens, paths: [train.bin], dtype: uint16, seed: 1}       # files of token ids
//   | data: {kind: megatron, paths: [text_document], documents: joined, seed: 1}   # .bin and .idx
//   | run: {steps: 4, global_batch: 8, micro_batches: 4, dtype: float32, tf32: false,
//   |       messages: nccl, reduction: exact,          # of GPUs: nccl | host, exact | fast
//   |       sequence_parallel: false, capture: false, graphs: true, schedule: 1f1b, chunks: 1,
//   |       zero_stage: 0, recompute: none, save: "", loss_jump: 0,
//   |       on_nonfinite: stop}                        # stop | skip | rollback
//   | optimizer: {kind: adamw, lr: 3e-4, betas: [0.9, 0.95], eps: 1e-8, weight_decay: 0.1,
//   |             grad_clip: 1.0, schedule: {kind: cosine, warmup_steps: 10}}
//   | checkpoint: {dir: runs/gpt, every: 100, minutes: 0, keep: 3, async: true, fallback: ""}
//   | elastic: {dp: [1, 4]}                            # extents that autophi supervise may choose
//   | memory: {device: 256MiB, host: 1GiB, disk: /tmp} # of each rank; swaps what has no room
//   | weights: DIR                                     # of a job, or Hugging Face's
//   | generate: {prompt: "", tokens: 64, temperature: 1.0, top_k: 0, top_p: 1.0, seed: 1}
//
// Whatever is wrong is one InvalidArgument `FILE:LINE: key 'model.heads': ...`; a key that does not
// exist is answered with the nearest one that does, and one that this job does not read
// (job_keys.h) with what would read it.
#pragma once

#include <cstdint>
#include <initializer_list>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "api/data/options.h"
#include "api/generation/sampler.h"
#include "api/nn/recompute.h"
#include "api/training/learning_rate.h"
#include "api/training/optimizer_config.h"
#include "phi/common/dtype.h"
#include "phi/common/errors.h"

namespace phi::job {

struct ModelConfig {
  std::string kind = "gpt";
  int64_t vocab = 256;
  int64_t seq_len = 256;
  int64_t d_model = 384;
  int64_t layers = 6;
  int64_t heads = 6;
  double norm_eps = 1e-5;
  bool tied_head = false;  // the head is the embedding's table
  int64_t seed = 1;
  // Kind gpt alone.
  int64_t mlp_ratio = 4;
  std::string activation = "gelu_tanh";  // or an operator of one tensor
  double dropout = 0.0;
  // Kind llama alone.
  int64_t kv_heads = 6;  // of keys and values; if the file says nothing, as many as heads
  int64_t ffn = 1024;    // columns of gate and up
  double rope_base = 10000.0;
  bool qkv_bias = false;  // of queries, keys and values

  int64_t head_size() const { return d_model / heads; }
};

/// Mesh dims in the order in which ranks are numbered (the last one varies fastest).
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
  data::Kind kind = data::Kind::kBytes;
  std::vector<std::string> paths = {"phi", "distributed"};  // of kind bytes; others have no default
  data::TokenType dtype = data::TokenType::kUint16;         // of kind tokens
  data::Documents documents = data::Documents::kJoined;
  int64_t seed = 1;
};

using nn::Recompute;

/// What a job does about a loss or gradients that are not finite. kRollBack: back to the newest
/// checkpoint, and on behind the batch at fault.
enum class NonFinitePolicy : uint8_t { kStop, kSkip, kRollBack };

struct RunConfig {
  int64_t steps = 4;
  int64_t global_batch = 8;
  int64_t micro_batches = 4;
  DataType dtype = DataType::FLOAT32;
  bool tf32 = false;                // on GPUs: products of float32 take their arguments as TF32
  std::string messages = "nccl";    // between GPUs: nccl | host
  std::string reduction = "exact";  // by NCCL: exact | fast
  bool sequence_parallel = false;
  bool capture = false;           // steps run a captured program
  bool graphs = true;             // GPUs launch its steps as CUDA graphs
  std::string schedule = "1f1b";  // of the pipeline
  int64_t chunks = 1;             // of the model, for each stage
  int64_t zero_stage = 0;
  Recompute recompute = Recompute::kNone;
  std::string save;  // folder for the parameters at the end; empty: none
  NonFinitePolicy on_nonfinite = NonFinitePolicy::kStop;
  double loss_jump = 0.0;  // standard deviations above those before it; 0: jumps are not told

  int64_t micro_batch_size() const { return global_batch / micro_batches; }
};

/// Saves of all states while the job trains. Without a folder there are none.
struct CheckpointConfig {
  std::string dir{};
  int64_t every = 100;     // steps; 0: not by their number
  double minutes = 0.0;    // 0: not by the clock
  int64_t keep = 3;        // newest ones
  bool async = true;       // written while the training goes on
  std::string fallback{};  // where a save goes that `dir` does not take
};

/// Extents of the mesh that autophi supervise may choose, as machines come and go.
struct ElasticConfig {
  std::vector<int64_t> dp{};  // the least and the most; empty: that of the mesh

  bool is_elastic() const { return !dp.empty(); }
};

/// What a rank may hold, in bytes. Without a limit on the device nothing is swapped.
struct MemoryConfig {
  int64_t device = 0;  // 0: no limit
  int64_t host = 0;    // for what the device has no room for
  std::string disk;    // folder of a temporary file for what the host has no room for; empty: none

  bool is_limited() const { return device > 0; }
};

struct JobOptimizer {
  training::OptimizerConfig update{.beta2 = 0.95, .weight_decay = 0.1, .grad_clip = 1.0};
  training::RateSchedule rate;
};

struct GenerateConfig {
  std::string prompt{};
  int64_t tokens = 64;
  generation::SamplerOptions sampling;
};

struct JobConfig {
  std::string mode = "forward";
  std::string place = "cpu";
  ModelConfig model;
  MeshConfig mesh;  // empty until given by the file, --mesh, or settle_mesh
  DataConfig data;
  RunConfig run;
  JobOptimizer optimizer;
  CheckpointConfig checkpoint;
  ElasticConfig elastic;
  MemoryConfig memory;
  std::vector<std::string> ops;  // libraries of operators, loaded by every process
  std::string weights;           // folder with parameters to start from; empty: random ones
  GenerateConfig generate;

  /// The file's name as it was given, and the line of each key in it ("model.heads" -> 4).
  std::string file;
  std::map<std::string, int> lines;
  /// Keys with another value than their default that nothing is known to read: neither the job as
  /// the file has it nor, when its mesh is settled, the job as it is run.
  std::set<std::string> unread;

  /// `FILE:LINE: key 'x.y': message` for the first of `keys` that the file gives; for the first
  /// one, without a line, if it gives none.
  Error wrong(std::initializer_list<std::string_view> keys, std::string_view message) const;
};

/// Reads and checks a job file, but for keys that are not read: those are left to settle_mesh, when
/// all that a command overrides is known. Errors: NotFound if it cannot be read; InvalidArgument as
/// above.
JobConfig load_job(const std::string& file);
/// The same from text; `file` is named in errors.
JobConfig parse_job(const std::string& text, const std::string& file);

/// "2x2x2" (dp, pp, tp), "4" (dp) or "dp=2,tp=2". Errors: InvalidArgument naming --mesh.
MeshConfig parse_mesh_flag(const std::string& text);

/// Decides the mesh for `world_size` processes: the flag's if given, else the file's, else all
/// processes along dp. One process runs any job on a mesh of one; `note` then says so.
/// Errors: InvalidArgument, with both numbers and what to change, where the mesh does not fit the
/// processes or the model does not fit the mesh; for a key that neither the file's job nor this one
/// reads, with who would.
void settle_mesh(JobConfig* config, int64_t world_size, const std::string& mesh_flag,
                 std::string* note);

}  // namespace phi::job
