// Mesh dims by name.
#include "tools/job/model/stage.h"

#include <algorithm>
#include <string_view>

namespace phi::job {

using distributed::Placement;
using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::TensorDistAttr;

namespace {

int dim_or_none(const ProcessMesh& mesh, std::string_view name) {
  const auto& names = mesh.dim_names();
  const auto found = std::find(names.begin(), names.end(), name);
  return found == names.end() ? -1 : static_cast<int>(found - names.begin());
}

}  // namespace

const TensorDistAttr* Stage::attr(Placement along_dp, Placement along_tp) const {
  std::vector<Placement> placements(static_cast<size_t>(mesh_.ndim()), Replicate());
  if (const int dp = dim_or_none(mesh_, "dp"); dp >= 0) placements[dp] = along_dp;
  if (const int tp = dim_or_none(mesh_, "tp"); tp >= 0) placements[tp] = along_tp;
  return TensorDistAttr::get(mesh_, placements);
}

Tensor Stage::place(const Tensor& x, Placement along_dp, Placement along_tp) const {
  const auto placements = attr(along_dp, along_tp)->placements();
  return x.is_dist() ? distributed::reshard(x, mesh_, placements)
                     : distributed::shard_tensor(x, mesh_, placements);
}

std::vector<Stage> stages_of(const ProcessMesh& mesh) {
  const int pp = dim_or_none(mesh, "pp");
  if (pp < 0) return {Stage(mesh)};
  std::vector<Stage> stages;
  for (int64_t s = 0; s < mesh.dim_size(pp); ++s) stages.emplace_back(mesh.slice(pp, s));
  return stages;
}

}  // namespace phi::job
