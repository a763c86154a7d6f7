// Reads the section `model`, and checks heads and what a mesh can hold.
#include "tools/job/config/read_model.h"

#include <fmt/format.h>

#include <string>
#include <vector>

#include "tools/job/config/section.h"

namespace phi::job {
namespace {

void check_heads(const JobConfig& config) {
  const ModelConfig& model = config.model;
  if (model.d_model % model.heads != 0) {
    throw config.wrong(
        {"model.heads", "model.d_model"},
        fmt::format("{} heads do not divide d_model {}; d_model must be a multiple of heads.",
                    model.heads, model.d_model));
  }
  if (model.kind != "llama") return;
  if (model.heads % model.kv_heads != 0) {
    throw config.wrong({"model.kv_heads", "model.heads"},
                       fmt::format("{} kv_heads do not divide heads {}; the same number of query "
                                   "heads must share each key head.",
                                   model.kv_heads, model.heads));
  }
  if (model.head_size() % 2 != 0) {
    throw config.wrong({"model.heads", "model.d_model"},
                       fmt::format("heads of {} (d_model {} / heads {}) are odd; rotary positions "
                                   "rotate pairs of elements.",
                                   model.head_size(), model.d_model, model.heads));
  }
}

void check_stages(const JobConfig& config) {
  const int64_t stages = config.mesh.extent("pp");
  if (config.model.layers < stages) {
    throw config.wrong({"model.layers", "mesh.shape"},
                       fmt::format("{} layers are fewer than the {} pipeline stages of the mesh "
                                   "{}; each stage needs one.",
                                   config.model.layers, stages, config.mesh.to_string()));
  }
  if (config.model.layers < stages * config.run.chunks) {
    throw config.wrong({"run.chunks", "model.layers"},
                       fmt::format("{} layers are fewer than {} stages of {} chunks; each chunk "
                                   "needs one.",
                                   config.model.layers, stages, config.run.chunks));
  }
}

// Dims that tp must split evenly. If tp divides kv_heads, it divides heads too.
void check_llama_split(const JobConfig& config) {
  const ModelConfig& model = config.model;
  const int64_t tp = config.mesh.extent("tp");
  const auto divides = [&](std::string_view key, std::string_view name, int64_t size) {
    if (size % tp == 0) return;
    throw config.wrong({key, "mesh.shape"},
                       fmt::format("tp {} of the mesh {} does not divide {} {}; each rank along tp "
                                   "must own the same number.",
                                   tp, config.mesh.to_string(), name, size));
  };
  divides("model.kv_heads", "kv_heads", model.kv_heads);
  divides("model.ffn", "ffn", model.ffn);
  divides("model.vocab", "vocab", model.vocab);
}

}  // namespace

void read_model(const YAML::Node& node, JobConfig* config) {
  const Section section(config, "model.", node);
  ModelConfig& model = config->model;
  section.read_choice("kind", {"gpt", "llama"}, &model.kind);
  section.read("vocab", 1, kMaxExtent, &model.vocab);
  section.read("seq_len", 1, kMaxExtent, &model.seq_len);
  section.read("d_model", 1, kMaxExtent, &model.d_model);
  section.read("layers", 1, kMaxExtent, &model.layers);
  section.read("heads", 1, kMaxExtent, &model.heads);
  section.read("mlp_ratio", 1, 1024, &model.mlp_ratio);
  section.read("activation", &model.activation);
  section.read_fraction("dropout", &model.dropout);
  model.kv_heads = model.heads;
  section.read("kv_heads", 1, kMaxExtent, &model.kv_heads);
  section.read("ffn", 1, kMaxExtent, &model.ffn);
  section.read("rope_base", 1.0, 1e12, &model.rope_base);
  section.read("qkv_bias", &model.qkv_bias);
  section.read("tied_head", &model.tied_head);
  section.read("norm_eps", 0.0, 1.0, &model.norm_eps);
  section.read("seed", 0, INT64_MAX, &model.seed);
  check_heads(*config);
}

void check_model_fits_mesh(const JobConfig& config) {
  check_stages(config);
  if (config.model.kind == "llama") check_llama_split(config);
}

}  // namespace phi::job
