// Reads rows of a layout and the cut of a pipeline.
#include "tools/job/config/read_layout.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <numeric>
#include <set>
#include <vector>

#include "distributed/placement/split.h"
#include "tools/job/config/placement_rows.h"
#include "tools/job/config/section.h"

namespace phi::job {
namespace {

using nn::Layout;

const std::vector<std::string> kTensorDims = {"dp", "tp"};  // mesh dims that split tensors

// Errors are those of `key`.
void check_dim_name(const JobConfig& config, const std::string& key, const std::string& dim) {
  if (std::ranges::count(kTensorDims, dim) > 0) return;
  if (dim == "pp") {
    throw config.wrong({key},
                       "mesh dim pp splits a model into stages, and no tensors; use dp or tp "
                       "here, and pipeline.cut for the stages.");
  }
  const std::string hint = cli::did_you_mean(dim, kTensorDims);
  throw config.wrong({key}, fmt::format("there is no mesh dim '{}'{}", dim,
                                        hint.empty() ? "; use dp or tp." : hint));
}

// Reads the rows of one kind.
class RowReader {
 public:
  RowReader(JobConfig* config, Layout::Kind kind) : config_(config), kind_(kind) {}

  void read(const YAML::Node& node) const {
    if (node.IsNull()) return;
    if (!node.IsSequence()) return read_map(node);
    for (const auto& item : node) read_map(item);
  }

 private:
  void read_map(const YAML::Node& node) const {
    const std::string key = "placements." + std::string(name_of(kind_));
    if (!node.IsMap()) {
      throw config_->wrong({key}, fmt::format("must be a map of patterns to placements, e.g. "
                                              "{{layer*.up.weight: {{tp: S1}}}}; got {}.",
                                              job::text_of(node)));
    }
    std::set<std::string> patterns;
    for (const auto& entry : node) {
      const std::string pattern = entry.first.IsScalar() ? entry.first.Scalar() : "";
      if (pattern.empty()) {
        throw config_->wrong({key}, fmt::format("{} in line {} is no pattern of names.",
                                                job::text_of(entry.first), line_of(entry.first)));
      }
      if (!patterns.insert(pattern).second) {
        throw config_->wrong(
            {key}, fmt::format("'{}' is set twice, again in line {}. Write one row, or a list of "
                               "maps: [{{{}: ..}}, {{{}: ..}}].",
                               pattern, line_of(entry.first), pattern, pattern));
      }
      read_row(pattern, entry.first, entry.second);
    }
  }

  void read_row(const std::string& pattern, const YAML::Node& at, const YAML::Node& node) const {
    const std::string key = key_of({kind_, pattern, {}});
    config_->lines.emplace(key, line_of(at));
    try {
      config_->placements.add({kind_, pattern, parse_axis_placements(node)});
    } catch (const Error& error) {
      throw config_->wrong({key}, error.what());
    }
    for (const auto& [dim, placement] : config_->placements.rows().back().axis_placements)
      check_dim_name(*config_, key, dim);
  }

  static int line_of(const YAML::Node& node) { return node.Mark().line + 1; }

  JobConfig* config_;
  Layout::Kind kind_;
};

bool has_dim(const MeshConfig& mesh, const std::string& dim) {
  return std::ranges::count(mesh.dims, dim) > 0;
}

void check_row_dims(const JobConfig& config, const MeshConfig& of_file) {
  if (config.mesh.num_ranks() == 1) return;
  for (const Layout::PlacementRow& row : config.placements.rows()) {
    for (const auto& [dim, placement] : row.axis_placements) {
      if (has_dim(config.mesh, dim) || has_dim(of_file, dim)) continue;
      throw config.wrong({key_of(row)},
                         fmt::format("the mesh {} has no mesh dim '{}'; remove it from the row, or "
                                     "set a mesh that has it (mesh, or --mesh).",
                                     config.mesh.to_string(), dim));
    }
  }
}

// ", e.g. [8, 8, 8, 8]"; nothing if it were long.
std::string example_of(int64_t layers, int64_t chunks) {
  constexpr int64_t kMostNumbers = 32;
  if (chunks > kMostNumbers) return "";
  std::vector<int64_t> even;
  for (int64_t c = 0; c < chunks; ++c)
    even.push_back(distributed::split_range(layers, chunks, c).size);
  return fmt::format(", e.g. [{}]", fmt::join(even, ", "));
}

// Checks the cut of a job with layers for a mesh with stages.
void check_cut(const JobConfig& config, const MeshConfig& mesh) {
  const std::vector<int64_t>& cut = config.pipeline.cut;
  const std::string& repeated = config.model.row().repeated;
  const int64_t layers = config.model.values.size(repeated);
  const int64_t stages = mesh.extent("pp");
  const int64_t chunks = stages * config.run.chunks;
  const int64_t sum = std::accumulate(cut.begin(), cut.end(), int64_t{0});
  if (layers < chunks || (std::ssize(cut) == chunks && sum == layers)) return;
  const std::string remedy =
      fmt::format("write {} number{} with the sum {}{}, or remove the key.", chunks,
                  chunks == 1 ? "" : "s", layers, example_of(layers, chunks));
  if (std::ssize(cut) != chunks) {
    throw config.wrong(
        {"pipeline.cut"},
        fmt::format("has {} number{}, and the job has {} chunk{} ({} stage{} of the "
                    "mesh {}, run.chunks: {}); {}",
                    cut.size(), cut.size() == 1 ? "" : "s", chunks, chunks == 1 ? "" : "s", stages,
                    stages == 1 ? "" : "s", mesh.to_string(), config.run.chunks, remedy));
  }
  throw config.wrong(
      {"pipeline.cut", "model." + repeated},
      fmt::format("has the sum {}, and the model has {} {}; {}", sum, layers, repeated, remedy));
}

}  // namespace

void read_pipeline(const YAML::Node& node, JobConfig* config) {
  const Section section(config, "pipeline.", node);
  section.read("cut", 1, kMaxExtent, &config->pipeline.cut);
}

void read_placements(const YAML::Node& node, JobConfig* config) {
  const Section section(config, "placements.", node);
  if (!node.IsMap()) return;
  for (const auto& entry : node) {
    const auto kind = std::ranges::find(row_kinds(), entry.first.Scalar()) - row_kinds().begin();
    RowReader(config, static_cast<Layout::Kind>(kind)).read(entry.second);
  }
}

void add_row_of_flag(const std::string& flag, const std::string& text, JobConfig* config) {
  try {
    config->placements.add(parse_row(text));
  } catch (const Error& error) {
    throw errors::InvalidArgument("{}: {}", flag, error.what());
  }
  const Layout::PlacementRow& row = config->placements.rows().back();
  config->flags[key_of(row)] = fmt::format("{}={}", flag, text);
  for (const auto& [dim, placement] : row.axis_placements)
    check_dim_name(*config, key_of(row), dim);
}

std::string key_of(const Layout::PlacementRow& row) {
  return fmt::format("placements.{}.{}", name_of(row.kind), row.pattern);
}

void settle_layout(const MeshConfig& of_file, JobConfig* config) {
  check_row_dims(*config, of_file);
  if (config->pipeline.cut.empty() || config->model.row().repeated.empty()) return;
  const bool is_one_rank = config->mesh.num_ranks() == 1;
  const MeshConfig& mesh = is_one_rank ? of_file : config->mesh;
  if (has_dim(mesh, "pp")) check_cut(*config, mesh);
  if (is_one_rank) config->pipeline.cut.clear();
}

}  // namespace phi::job
