// Reading job files: a section at a time, every key known by name, type and range.
#include "tools/job/config.h"

#include <yaml-cpp/eventhandler.h>
#include <yaml-cpp/yaml.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <sstream>

#include "tools/cli/command_line.h"

namespace phi::job {
namespace {

const std::vector<std::string> kMeshDims = {"dp", "pp", "tp"};
constexpr int64_t kMaxExtent = int64_t{1} << 24;  // keeps every product of two sizes exact
constexpr int64_t kMaxRanks = int64_t{1} << 24;

std::string quoted_list(const std::vector<std::string>& words) {
  std::string out;
  for (const std::string& word : words) out += (out.empty() ? "" : ", ") + word;
  return out;
}

std::string text_of(const YAML::Node& node) {
  if (node.IsScalar()) return "'" + node.Scalar() + "'";
  if (node.IsSequence()) return "a list";
  return node.IsMap() ? "a map" : "nothing";
}

// A YAML map with a fixed set of keys. Unknown and repeated keys are found at once; each read
// checks the type and the range.
class Section {
 public:
  Section(JobConfig* config, std::string prefix, const YAML::Node& node,
          const std::vector<std::string>& keys)
      : config_(config), prefix_(std::move(prefix)), node_(node) {
    if (node.IsNull()) return;
    if (!node.IsMap()) {
      const std::string what = prefix_.empty() ? "a job file" : "'" + name_of_section() + "'";
      throw errors::InvalidArgument("{}:{}: {} must be a map of {}, got {}.", config->file,
                                    node.Mark().line + 1, what, quoted_list(keys), text_of(node));
    }
    for (const auto& entry : node) check_key(entry.first, keys);
  }

  YAML::Node child(const std::string& key) const {
    return node_.IsMap() && node_[key] ? node_[key] : YAML::Node();
  }

  void read(const std::string& key, int64_t min, int64_t max, int64_t* out) const {
    if (const auto node = find(key)) *out = integer(key, *node, min, max);
  }

  void read(const std::string& key, bool* out) const {
    const auto node = find(key);
    if (node && !(plain(*node) && YAML::convert<bool>::decode(*node, *out))) {
      throw wrong(key, "true or false", *node);
    }
  }

  void read_fraction(const std::string& key, double* out) const {
    const auto node = find(key);
    if (!node) return;
    double value = 0;
    const bool number = plain(*node) && YAML::convert<double>::decode(*node, value);
    if (!number || !(value >= 0 && value < 1)) {
      throw wrong(key, "a number that is 0 or more and less than 1", *node);
    }
    *out = value;
  }

  void read_choice(const std::string& key, const std::vector<std::string>& choices,
                   std::string* out) const {
    const auto node = find(key);
    if (!node) return;
    const bool known = node->IsScalar() &&
                       std::find(choices.begin(), choices.end(), node->Scalar()) != choices.end();
    if (!known) {
      const std::string given = node->IsScalar() ? node->Scalar() : "";
      throw config_->wrong({path(key)},
                           fmt::format("must be one of {}; got {}{}", quoted_list(choices),
                                       text_of(*node), ending(cli::did_you_mean(given, choices))));
    }
    *out = node->Scalar();
  }

  void read(const std::string& key, int64_t min, int64_t max, std::vector<int64_t>* out) const {
    const auto node = find(key);
    if (!node) return;
    if (!node->IsSequence()) throw wrong(key, "a list of integers, e.g. [2, 2]", *node);
    out->clear();
    for (const auto& item : *node) out->push_back(integer(key, item, min, max));
  }

  void read(const std::string& key, const char* of_what, std::vector<std::string>* out) const {
    const auto node = find(key);
    if (!node) return;
    if (!node->IsSequence()) throw wrong(key, fmt::format("a list of {}", of_what), *node);
    out->clear();
    for (const auto& item : *node) {
      if (!item.IsScalar()) throw wrong(key, fmt::format("a list of {}", of_what), item);
      out->push_back(item.Scalar());
    }
  }

 private:
  static std::string ending(const std::string& hint) { return hint.empty() ? "." : hint; }
  std::string path(const std::string& key) const { return prefix_ + key; }
  std::string name_of_section() const { return prefix_.substr(0, prefix_.size() - 1); }
  // A quoted scalar is text even if it looks like a number.
  static bool plain(const YAML::Node& node) { return node.IsScalar() && node.Tag() != "!"; }

  std::optional<YAML::Node> find(const std::string& key) const {
    const YAML::Node node = child(key);
    if (!node.IsDefined() || !config_->lines.contains(path(key))) return std::nullopt;
    return node;
  }

  void check_key(const YAML::Node& key, const std::vector<std::string>& keys) {
    const int line = key.Mark().line + 1;
    const std::string name = key.IsScalar() ? key.Scalar() : text_of(key);
    if (std::find(keys.begin(), keys.end(), name) == keys.end()) {
      const std::string hint = cli::did_you_mean(name, keys);
      throw errors::InvalidArgument(
          "{}:{}: key '{}': there is no such key{}", config_->file, line, path(name),
          hint.empty() ? fmt::format(" ({} are).", quoted_list(keys)) : hint);
    }
    if (!config_->lines.emplace(path(name), line).second) {
      throw errors::InvalidArgument("{}:{}: key '{}': given twice, first in line {}.",
                                    config_->file, line, path(name), config_->lines[path(name)]);
    }
  }

  int64_t integer(const std::string& key, const YAML::Node& node, int64_t min, int64_t max) const {
    int64_t value = 0;
    if (!plain(node) || !YAML::convert<int64_t>::decode(node, value)) {
      throw wrong(key, "an integer", node);
    }
    if (value < min || value > max) {
      throw wrong(key, fmt::format("an integer from {} to {}", min, max), node);
    }
    return value;
  }

  Error wrong(const std::string& key, std::string_view expected, const YAML::Node& node) const {
    return config_->wrong({path(key)}, fmt::format("must be {}; got {}.", expected, text_of(node)));
  }

  JobConfig* config_;
  std::string prefix_;
  YAML::Node node_;
};

void read_model(const Section& section, ModelConfig* model) {
  section.read_choice("kind", {"gpt"}, &model->kind);
  // Data are bytes: an id may be anything from 0 to 255.
  section.read("vocab", 256, kMaxExtent, &model->vocab);
  section.read("seq_len", 1, kMaxExtent, &model->seq_len);
  section.read("d_model", 1, kMaxExtent, &model->d_model);
  section.read("layers", 1, kMaxExtent, &model->layers);
  section.read("heads", 1, kMaxExtent, &model->heads);
  section.read("mlp_ratio", 1, 1024, &model->mlp_ratio);
  section.read_fraction("dropout", &model->dropout);
  section.read("seed", 0, INT64_MAX, &model->seed);
}

void check_model(const JobConfig& config) {
  const ModelConfig& model = config.model;
  if (model.d_model % model.heads != 0) {
    throw config.wrong(
        {"model.heads", "model.d_model"},
        fmt::format("{} heads do not divide d_model {}; d_model must be a multiple of heads.",
                    model.heads, model.d_model));
  }
}

// Names of a mesh given without dims: all three, or data parallel alone.
std::vector<std::string> default_dims(size_t ndim) {
  if (ndim == kMeshDims.size()) return kMeshDims;
  return ndim == 1 ? std::vector<std::string>{"dp"} : std::vector<std::string>{};
}

// What is wrong with a mesh, or nothing.
std::string mesh_fault(const MeshConfig& mesh) {
  if (mesh.shape.empty()) return "shape must name at least one extent.";
  if (mesh.dims.size() != mesh.shape.size()) {
    return fmt::format("{} extents need as many names in dims (of dp, pp, tp), got {}.",
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
    if (has_dims) throw config->wrong({"mesh.dims"}, "dims need a shape beside them.");
    return;
  }
  if (!has_dims) config->mesh.dims = default_dims(config->mesh.shape.size());
  const std::string fault = mesh_fault(config->mesh);
  if (!fault.empty()) throw config->wrong({has_dims ? "mesh.dims" : "mesh.shape"}, fault);
}

void read_run(JobConfig* config, const Section& section) {
  RunConfig& run = config->run;
  section.read("steps", 1, INT32_MAX, &run.steps);
  section.read("global_batch", 1, kMaxExtent, &run.global_batch);
  section.read("micro_batches", 1, kMaxExtent, &run.micro_batches);
  section.read("sequence_parallel", &run.sequence_parallel);
  std::string dtype(name_of(run.dtype));
  section.read_choice("dtype", {"float32", "bfloat16"}, &dtype);
  run.dtype = parse_dtype(dtype);
  if (run.global_batch % run.micro_batches != 0) {
    throw config->wrong(
        {"run.micro_batches", "run.global_batch"},
        fmt::format("{} micro-batches do not divide global_batch {}; each must hold equally many.",
                    run.micro_batches, run.global_batch));
  }
}

// Notes where documents begin and drops everything else.
class DocumentStarts final : public YAML::EventHandler {
 public:
  int last_line = 0;
  void OnDocumentStart(const YAML::Mark& mark) override { last_line = mark.line + 1; }
  void OnDocumentEnd() override {}
  void OnNull(const YAML::Mark&, YAML::anchor_t) override {}
  void OnAlias(const YAML::Mark&, YAML::anchor_t) override {}
  void OnScalar(const YAML::Mark&, const std::string&, YAML::anchor_t,
                const std::string&) override {}
  void OnSequenceStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                       YAML::EmitterStyle::value) override {}
  void OnSequenceEnd() override {}
  void OnMapStart(const YAML::Mark&, const std::string&, YAML::anchor_t,
                  YAML::EmitterStyle::value) override {}
  void OnMapEnd() override {}
};

YAML::Node load_yaml(const std::string& text, const std::string& file) {
  try {
    // YAML::Load reads one document and is silent about what follows; YAML::LoadAll of yaml-cpp 0.7
    // does not end for some malformed texts (",a: b").
    std::istringstream in(text);
    YAML::Parser parser(in);
    DocumentStarts starts;
    if (parser.HandleNextDocument(starts) && parser.HandleNextDocument(starts)) {
      throw errors::InvalidArgument("{}:{}: one job a file; what begins here is not part of it.",
                                    file, starts.last_line);
    }
    return YAML::Load(text);
  } catch (const YAML::Exception& error) {
    throw errors::InvalidArgument("{}:{}: not valid YAML: {}.", file, error.mark.line + 1,
                                  error.msg);
  }
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

Error JobConfig::wrong(std::initializer_list<std::string_view> keys,
                       std::string_view message) const {
  for (const std::string_view key : keys) {
    const auto line = lines.find(std::string(key));
    if (line == lines.end()) continue;
    return errors::InvalidArgument("{}:{}: key '{}': {}", file, line->second, key, message);
  }
  return errors::InvalidArgument("{}: key '{}' (by default): {}", file, *keys.begin(), message);
}

JobConfig parse_job(const std::string& text, const std::string& file) {
  const YAML::Node root = load_yaml(text, file);
  JobConfig config;
  config.file = file;
  const Section top(&config, "", root, {"mode", "model", "mesh", "data", "run"});
  top.read_choice("mode", {"forward", "train", "generate"}, &config.mode);
  read_model(
      {&config,
       "model.",
       top.child("model"),
       {"kind", "vocab", "seq_len", "d_model", "layers", "heads", "mlp_ratio", "dropout", "seed"}},
      &config.model);
  check_model(config);
  read_mesh(&config, {&config, "mesh.", top.child("mesh"), {"shape", "dims"}});
  const Section data(&config, "data.", top.child("data"), {"paths", "seed"});
  data.read("paths", "files or folders", &config.data.paths);
  data.read("seed", 0, INT64_MAX, &config.data.seed);
  if (config.data.paths.empty()) throw config.wrong({"data.paths"}, "name at least one path.");
  read_run(&config, {&config,
                     "run.",
                     top.child("run"),
                     {"steps", "global_batch", "micro_batches", "dtype", "sequence_parallel"}});
  return config;
}

JobConfig load_job(const std::string& file) {
  std::error_code ignored;
  std::ifstream in(file, std::ios::binary);
  if (!in || std::filesystem::is_directory(file, ignored)) {
    throw errors::NotFound("cannot read job file '{}': {}.", file,
                           in ? "it is a folder" : std::strerror(errno));
  }
  std::ostringstream text;
  text << in.rdbuf();
  return parse_job(text.str(), file);
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
      "the mesh {} has {} ranks, but {} process{} running. Start it with `mpirun -n {}`, or give "
      "a mesh of {} (mesh.shape in the file, or --mesh).",
      config.mesh.to_string(), ranks, world_size, world_size == 1 ? " is" : "es are", ranks,
      world_size);
  if (from_flag) throw errors::InvalidArgument("--mesh: {}", message);
  throw config.wrong({"mesh.shape"}, message);
}

void check_model_fits_mesh(const JobConfig& config) {
  const int64_t stages = config.mesh.extent("pp");
  if (config.model.layers < stages) {
    throw config.wrong({"model.layers", "mesh.shape"},
                       fmt::format("{} layers are fewer than the {} pipeline stages of the mesh "
                                   "{}; each stage needs one.",
                                   config.model.layers, stages, config.mesh.to_string()));
  }
}

}  // namespace

void settle_mesh(JobConfig* config, int64_t world_size, const std::string& mesh_flag,
                 std::string* note) {
  const bool from_flag = !mesh_flag.empty();
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
  check_model_fits_mesh(*config);
}

}  // namespace phi::job
