// Replaces the number of layers and the cut.
#include "tools/job/shorten_other_stages.h"

#include <numeric>
#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/split.h"

namespace phi::job {

std::optional<ShortenedJob> shorten_other_stages(const JobConfig& config, int64_t rank) {
  const std::string& key = config.model.row().repeated;
  const int64_t stages = config.mesh.extent("pp");
  const bool has_equal_layers = config.models.empty() && config.placements.rows().empty();
  if (key.empty() || stages == 1 || config.run.chunks > 1 || config.run.capture ||
      !has_equal_layers)
    return std::nullopt;
  const int64_t layers = config.model.values.size(key);
  if (layers <= stages) return std::nullopt;
  const distributed::ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  const int64_t own = (*mesh.coord_of(rank))[static_cast<size_t>(mesh.dim_of("pp"))];
  const std::vector<int64_t>& cut = config.pipeline.cut;
  const auto layers_of = [&](int64_t stage) {
    return cut.empty() ? distributed::split_range(layers, stages, stage).size
                       : cut[static_cast<size_t>(stage)];
  };
  ShortenedJob out{config};
  out.config.pipeline.cut.assign(static_cast<size_t>(stages), 1);
  out.config.pipeline.cut[static_cast<size_t>(own)] = layers_of(own);
  for (int64_t stage = 0; stage < own; ++stage) out.left_out += layers_of(stage) - 1;
  const std::vector<int64_t>& shorter = out.config.pipeline.cut;
  out.config.model.values.set(key, std::accumulate(shorter.begin(), shorter.end(), int64_t{0}));
  return out;
}

}  // namespace phi::job
