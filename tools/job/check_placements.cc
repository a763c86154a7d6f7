// Plays the model with all rows, and to find a faulty row with each alone.
#include "tools/job/check_placements.h"

#include <string>
#include <vector>

#include "api/autograd/autograd.h"
#include "api/nn/layout/shard.h"
#include "api/tensor/placeholder.h"
#include "distributed/api.h"
#include "phi/core/rank_context.h"
#include "tools/job/build.h"
#include "tools/job/config/read_layout.h"
#include "tools/job/dry_run.h"

namespace phi::job {
namespace {

// The error of a job with these rows; empty: none.
std::string fault_of(JobConfig config, nn::Layout rows) {
  config.placements = std::move(rows);
  const DryRank played({config.mesh.num_ranks(), /*rank=*/0});
  const NoGrad no_grad;
  try {
    const distributed::ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
    const auto model = build_model(config, mesh, /*weights=*/nullptr);
    const Tensor inputs =
        placeholder(input_shape(config), input_dtype(config), RankContext::current().place());
    (*model)(distributed::shard_tensor(inputs, model->sharding()->inputs->mesh(),
                                       model->sharding()->inputs->placements()));
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

}  // namespace

void check_placements(const JobConfig& config) {
  if (config.placements.rows().empty()) return;
  const std::string fault = fault_of(config, config.placements);
  if (fault.empty() || !fault_of(config, {}).empty()) return;
  std::vector<std::string> keys = {"placements"};
  for (const nn::Layout::PlacementRow& row : config.placements.rows()) {
    const std::string own = fault_of(config, nn::Layout().add(row));
    if (!own.empty()) throw config.wrong({key_of(row)}, own);
    keys.push_back(key_of(row));
  }
  throw config.wrong(keys, fault);
}

}  // namespace phi::job
