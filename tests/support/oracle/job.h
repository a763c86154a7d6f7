// What a job file says that numbers depend on (docs/running.md). How it is run (mesh, schedule of
// the pipeline, ZeRO, memory, ..) is not read: it must make no difference.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

struct ModelShape {
  std::string kind = "gpt";
  int64_t vocab = 256;
  int64_t seq_len = 256;
  int64_t d_model = 384;
  int64_t layers = 6;
  int64_t heads = 6;
  uint64_t seed = 1;
  int64_t mlp_ratio = 4;
  double dropout = 0.0;
  int64_t kv_heads = 6;
  int64_t ffn = 1024;
  double rope_base = 10000.0;
  double norm_eps = 1e-5;

  int64_t head_size() const { return d_model / heads; }
};

struct Rates {
  std::string kind = "constant";
  double lr = 3e-4;
  int64_t warmup_steps = 0;
  int64_t steps = 4;
  double min_ratio = 0.1;
  std::vector<int64_t> milestones;
  double gamma = 0.1;
};

struct UpdateRule {
  std::string kind = "adamw";
  double beta1 = 0.9;
  double beta2 = 0.95;
  double eps = 1e-8;
  double weight_decay = 0.1;
  double grad_clip = 1.0;
  double momentum = 0.9;
  bool nesterov = false;
};

struct Job {
  ModelShape model;
  Rates rates;
  UpdateRule update;
  std::vector<std::string> paths = {"phi", "distributed"};
  uint64_t data_seed = 1;
  int64_t steps = 4;
  int64_t global_batch = 8;
  int64_t micro_batches = 4;
  bool scales_loss = false;  // float16
  std::string weights;       // folder; empty: the documented initialiser
};

Job read_job(const std::string& file);

}  // namespace oracle
