// Reads the section `model` by the row of its kind, and checks what a mesh can hold.
#include "tools/job/config/read_model.h"

#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "api/nn/models/load_models.h"
#include "tools/job/config/job_paths.h"
#include "tools/job/config/section.h"

namespace phi::job {
namespace {

using nn::models::ModelKey;
using nn::models::ModelKind;
using nn::models::ModelValue;

void load_libraries(const JobConfig& config) {
  try {
    for (const std::string& library : config.models) {
      nn::models::load_models(library_path(config, library));
    }
  } catch (const Error& error) {
    throw config.wrong({"models"}, error.what());
  }
}

void check_kind(const JobConfig& config) {
  if (nn::models::find_model_kind(config.model.kind)) return;
  std::vector<std::string> names;
  for (const ModelKind* kind : nn::models::model_kinds()) names.push_back(kind->name);
  const std::string hint = cli::did_you_mean(config.model.kind, names);
  throw config.wrong({"model.kind"},
                     fmt::format("must be one of {}, or of a library in the key 'models'; got "
                                 "'{}'{}",
                                 quoted_list(names), config.model.kind, hint.empty() ? "." : hint));
}

// Reads a key whose default is the value that is passed.
class ReadValue {
 public:
  ReadValue(const Section& section, const ModelKey& key) : section_(section), key_(key) {}

  ModelValue operator()(bool value) const {
    section_.read(key_.name, &value);
    return value;
  }
  ModelValue operator()(int64_t value) const {
    section_.read(key_.name, least(), most(), &value);
    return value;
  }
  ModelValue operator()(double value) const {
    if (key_.is_fraction) {
      section_.read_fraction(key_.name, &value);
    } else {
      section_.read(key_.name, key_.least, key_.most, &value);
    }
    return value;
  }
  ModelValue operator()(std::string value) const {
    section_.read(key_.name, &value);
    return value;
  }
  ModelValue operator()(std::vector<int64_t> value) const {
    section_.read(key_.name, least(), most(), &value);
    return value;
  }

 private:
  int64_t least() const { return static_cast<int64_t>(key_.least); }
  int64_t most() const { return static_cast<int64_t>(key_.most); }

  const Section& section_;
  const ModelKey& key_;
};

ModelValue read_value(const Section& section, const ModelKey& key, const ModelValue& by_default) {
  return std::visit(ReadValue(section, key), by_default);
}

// Keys of other kinds are read too, so that job_keys can report those that differ from their
// defaults.
void read_keys_of_others(const Section& section, const ModelKind& own) {
  std::vector<std::string> seen;
  for (const ModelKey& key : own.keys) seen.push_back(key.name);
  for (const ModelKind* kind : nn::models::model_kinds()) {
    for (const ModelKey& key : kind->keys) {
      if (std::ranges::find(seen, key.name) != seen.end()) continue;
      read_value(section, key, key.by_default);
      seen.push_back(key.name);
    }
  }
}

void check_values(const JobConfig& config, const ModelKind& kind) {
  if (!kind.find_fault) return;
  const auto fault = kind.find_fault(config.model.values);
  if (!fault) return;
  std::vector<std::string> keys;
  for (const std::string& key : fault->keys) keys.push_back("model." + key);
  throw config.wrong(keys, fault->message);
}

Error wrong_split(const JobConfig& config, const std::string& key, std::string_view what) {
  return config.wrong({key, "mesh.shape"}, fmt::format("{} (mesh {}, model.kind: {}).", what,
                                                       config.mesh.to_string(), config.model.kind));
}

void check_stages(const JobConfig& config, const ModelKind& kind) {
  const int64_t stages = config.mesh.extent("pp");
  if (kind.repeated.empty()) {
    if (stages == 1) return;
    throw wrong_split(config, "model.kind",
                      "a model without repeated layers cannot be split over pipeline stages; "
                      "use a mesh without pp");
  }
  const int64_t layers = config.model.values.size(kind.repeated);
  const std::string key = "model." + kind.repeated;
  if (layers < stages) {
    throw config.wrong({key, "mesh.shape"},
                       fmt::format("{} layers are fewer than the {} pipeline stages of the mesh "
                                   "{}; each stage needs one.",
                                   layers, stages, config.mesh.to_string()));
  }
  if (layers < stages * config.run.chunks) {
    throw config.wrong({"run.chunks", key},
                       fmt::format("{} layers are fewer than {} stages of {} chunks; each chunk "
                                   "needs one.",
                                   layers, stages, config.run.chunks));
  }
}

void check_tensor_split(const JobConfig& config, const ModelKind& kind) {
  const int64_t tp = config.mesh.extent("tp");
  if (tp > 1 && !kind.splits_over_tp) {
    throw wrong_split(config, "model.kind",
                      "a model without placements along tp cannot be split over it; use a mesh "
                      "without tp");
  }
  for (const std::string& name : kind.divided_by_tp) {
    const int64_t size = config.model.values.size(name);
    if (size % tp == 0) continue;
    throw config.wrong({"model." + name, "mesh.shape"},
                       fmt::format("tp {} of the mesh {} does not divide {} {}; each rank along tp "
                                   "must own the same number.",
                                   tp, config.mesh.to_string(), name, size));
  }
}

}  // namespace

void read_model(const YAML::Node& node, JobConfig* config) {
  load_libraries(*config);
  const Section section(config, "model.", node);
  ModelConfig& model = config->model;
  section.read("kind", &model.kind);
  check_kind(*config);
  const ModelKind& kind = model.row();
  for (const ModelKey& key : kind.keys) {
    const ModelValue by_default =
        key.default_from.empty() ? key.by_default : model.values.at(key.default_from);
    model.values.set(key.name, read_value(section, key, by_default));
  }
  read_keys_of_others(section, kind);
  section.read("seed", 0, INT64_MAX, &model.seed);
  check_values(*config, kind);
}

void check_model_fits_mesh(const JobConfig& config) {
  const ModelKind& kind = config.model.row();
  check_stages(config, kind);
  check_tensor_split(config, kind);
}

}  // namespace phi::job
