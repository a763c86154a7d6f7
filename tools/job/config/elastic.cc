// Tries extents of dp in descending order.
#include "tools/job/config/elastic.h"

#include <fmt/format.h>

#include <algorithm>

#include "phi/common/errors.h"

namespace phi::job {
namespace {

// The mesh with another extent of dp.
MeshConfig with_dp(MeshConfig mesh, int64_t dp) {
  const auto found = std::ranges::find(mesh.dims, "dp");
  mesh.shape[static_cast<size_t>(found - mesh.dims.begin())] = dp;
  return mesh;
}

void check_fits(JobConfig config, int64_t ranks, const std::string& mesh_flag) {
  std::string note;
  resolve_mesh(&config, ranks, mesh_flag, &note);
}

MeshConfig elastic_mesh(const JobConfig& config, const std::string& mesh_flag) {
  MeshConfig mesh = mesh_flag.empty() ? config.mesh : parse_mesh_flag(mesh_flag);
  if (mesh.shape.empty()) mesh = {{1}, {"dp"}};
  if (std::ranges::find(mesh.dims, "dp") == mesh.dims.end()) {
    throw config.wrong({"elastic.dp"},
                       fmt::format("the mesh {} has no dim dp that could be another; "
                                   "add one of extent 1.",
                                   mesh.to_string()));
  }
  return mesh;
}

std::optional<LaunchSize> place_elastic(const JobConfig& config, const std::string& mesh_flag,
                                        int64_t slots) {
  const MeshConfig mesh = elastic_mesh(config, mesh_flag);
  const int64_t others = with_dp(mesh, 1).num_ranks();
  const int64_t least = config.elastic.dp[0];
  const int64_t rows = config.run.micro_batch_size();
  for (int64_t dp = std::min({config.elastic.dp[1], slots / others, rows}); dp >= least; --dp) {
    if (rows % dp != 0) continue;
    const MeshConfig chosen = with_dp(mesh, dp);
    const LaunchSize launch_size{chosen.num_ranks(), chosen.to_string(",")};
    check_fits(config, launch_size.ranks, launch_size.mesh);
    return launch_size;
  }
  return std::nullopt;
}

}  // namespace

std::optional<LaunchSize> choose_launch_size(const JobConfig& config, const std::string& mesh_flag,
                                             int64_t slots) {
  if (config.elastic.is_elastic()) return place_elastic(config, mesh_flag, slots);
  const MeshConfig mesh = mesh_flag.empty() ? config.mesh : parse_mesh_flag(mesh_flag);
  const int64_t ranks = mesh.shape.empty() ? slots : mesh.num_ranks();
  if (ranks > slots) return std::nullopt;
  check_fits(config, ranks, mesh_flag);
  return LaunchSize{ranks, mesh_flag};
}

}  // namespace phi::job
