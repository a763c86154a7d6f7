// Reading of a job file's keys.
#include "support/oracle/job.h"

#include <yaml-cpp/yaml.h>

#include <stdexcept>

namespace oracle {
namespace {

template <typename T>
void read(const YAML::Node& section, const char* key, T* value) {
  if (section && section[key]) *value = section[key].as<T>();
}

ModelShape read_model(const YAML::Node& node) {
  ModelShape model;
  read(node, "kind", &model.kind);
  read(node, "vocab", &model.vocab);
  read(node, "seq_len", &model.seq_len);
  read(node, "d_model", &model.d_model);
  read(node, "layers", &model.layers);
  read(node, "heads", &model.heads);
  read(node, "seed", &model.seed);
  read(node, "mlp_ratio", &model.mlp_ratio);
  read(node, "dropout", &model.dropout);
  model.kv_heads = model.heads;
  read(node, "kv_heads", &model.kv_heads);
  read(node, "ffn", &model.ffn);
  read(node, "rope_base", &model.rope_base);
  read(node, "norm_eps", &model.norm_eps);
  return model;
}

UpdateRule read_update(const YAML::Node& node) {
  UpdateRule update;
  read(node, "kind", &update.kind);
  std::vector<double> betas = {update.beta1, update.beta2};
  read(node, "betas", &betas);
  update.beta1 = betas.at(0);
  update.beta2 = betas.at(1);
  read(node, "eps", &update.eps);
  read(node, "weight_decay", &update.weight_decay);
  read(node, "grad_clip", &update.grad_clip);
  read(node, "momentum", &update.momentum);
  read(node, "nesterov", &update.nesterov);
  return update;
}

Rates read_rates(const YAML::Node& optimizer, int64_t steps) {
  Rates rates;
  rates.steps = steps;
  read(optimizer, "lr", &rates.lr);
  if (!optimizer || !optimizer["schedule"]) return rates;
  const YAML::Node schedule = optimizer["schedule"];
  if (schedule.IsScalar()) {
    rates.kind = schedule.as<std::string>();
    return rates;
  }
  read(schedule, "kind", &rates.kind);
  read(schedule, "warmup_steps", &rates.warmup_steps);
  read(schedule, "min_ratio", &rates.min_ratio);
  read(schedule, "milestones", &rates.milestones);
  read(schedule, "gamma", &rates.gamma);
  return rates;
}

}  // namespace

Job read_job(const std::string& file) {
  const YAML::Node root = YAML::LoadFile(file);
  if (!root["mode"] || root["mode"].as<std::string>() != "train") {
    throw std::runtime_error(file + ": the oracle trains; mode must be train");
  }
  Job job;
  job.model = read_model(root["model"]);
  read(root["data"], "paths", &job.paths);
  read(root["data"], "seed", &job.data_seed);
  const YAML::Node run = root["run"];
  read(run, "steps", &job.steps);
  read(run, "global_batch", &job.global_batch);
  read(run, "micro_batches", &job.micro_batches);
  std::string dtype = "float32";
  read(run, "dtype", &dtype);
  job.scales_loss = dtype == "float16";
  job.update = read_update(root["optimizer"]);
  job.rates = read_rates(root["optimizer"], job.steps);
  read(root, "weights", &job.weights);
  return job;
}

}  // namespace oracle
