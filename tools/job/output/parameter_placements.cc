// Reads placements from the parameters' attributes.
#include "tools/job/output/parameter_placements.h"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace phi::job {
namespace {

using distributed::ProcessMesh;

// The stage whose ranks have the mesh `own`, a slice of `mesh` along pp.
int64_t stage_of(const ProcessMesh& own, const ProcessMesh& mesh) {
  const auto& names = mesh.dim_names();
  const auto along = std::ranges::find(names, "pp");
  if (along == names.end()) return 0;
  const auto coord = mesh.coord_of(own.rank_at(int64_t{0}));
  return coord ? (*coord)[static_cast<size_t>(along - names.begin())] : 0;
}

}  // namespace

std::vector<ParameterPlacement> placements_of(const nn::Module& model, const ProcessMesh& mesh) {
  std::vector<ParameterPlacement> out;
  for (const auto& [name, value] : model.named_parameters()) {
    ParameterPlacement& own = out.emplace_back();
    own.name = name;
    own.shape.assign(value.shape().begin(), value.shape().end());
    if (!value.is_dist()) continue;
    const ProcessMesh& its_mesh = value.mesh();
    for (int m = 0; m < its_mesh.ndim(); ++m) {
      own.by_dim.emplace_back(its_mesh.dim_names()[static_cast<size_t>(m)],
                              value.placements()[static_cast<size_t>(m)].to_string());
    }
    own.stage = stage_of(its_mesh, mesh);
  }
  return out;
}

nlohmann::ordered_json to_json(const std::vector<ParameterPlacement>& placements) {
  nlohmann::ordered_json json = nlohmann::ordered_json::array();
  for (const ParameterPlacement& own : placements) {
    nlohmann::ordered_json by_dim = nlohmann::ordered_json::object();
    for (const auto& [dim, placement] : own.by_dim) by_dim[dim] = placement;
    json.push_back({{"name", own.name},
                    {"shape", own.shape},
                    {"placements", std::move(by_dim)},
                    {"stage", own.stage}});
  }
  return json;
}

}  // namespace phi::job
