// Replaces the number of layers and the cut.
#include "tools/job/shorten_other_stages.h"

#include <algorithm>
#include <iterator>
#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/placement/split.h"

namespace phi::job {

// Names of layers differ in their numbers.
bool treats_layers_alike(const nn::Layout& placements) {
  return std::ranges::none_of(placements.rows(), [](const nn::Layout::PlacementRow& row) {
    return row.pattern.find_first_of("0123456789?") != std::string::npos;
  });
}

std::optional<ShortenedJob> shorten_other_stages(const JobConfig& config, int64_t rank) {
  const std::string& key = config.model.row().repeated;
  const int64_t stages = config.mesh.extent("pp");
  const bool has_equal_layers = config.models.empty() && treats_layers_alike(config.placements);
  if (key.empty() || stages == 1 || config.run.capture || !has_equal_layers) return std::nullopt;
  const int64_t layers = config.model.values.size(key);
  const int64_t chunks = stages * config.run.chunks;
  if (layers <= chunks) return std::nullopt;
  const distributed::ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  const int64_t own = (*mesh.coord_of(rank))[static_cast<size_t>(mesh.dim_of("pp"))];
  const std::vector<int64_t>& cut = config.pipeline.cut;
  // Models of a job have one link before their layers, and one after them.
  ShortenedJob out{config, {0}};
  out.config.pipeline.cut.clear();
  int64_t first = 1;
  for (int64_t chunk = 0; chunk < chunks; ++chunk) {
    const int64_t all = cut.empty() ? distributed::split_range(layers, chunks, chunk).size
                                    : cut[static_cast<size_t>(chunk)];
    const int64_t kept = chunk % stages == own ? all : 1;
    for (int64_t layer = 0; layer < kept; ++layer) out.links.push_back(first + layer);
    out.config.pipeline.cut.push_back(kept);
    first += all;
  }
  out.config.model.values.set(key, std::ssize(out.links) - 1);
  out.links.push_back(first);
  return out;
}

}  // namespace phi::job
