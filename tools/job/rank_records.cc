// Looks records up by what a layout sets.
#include "tools/job/rank_records.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <functional>
#include <memory>
#include <optional>
#include <string_view>

#include "api/simulation/predict_step.h"
#include "api/training/trainer.h"
#include "distributed/simulator/mesh_symmetry.h"
#include "phi/core/rank_context.h"
#include "tools/job/build.h"
#include "tools/job/config/placement_rows.h"
#include "tools/job/run_flags.h"
#include "tools/job/shorten_other_stages.h"

namespace phi::job {
namespace {

using distributed::ProcessMesh;
using simulation::RecordedRank;

// Holders count links as layers.
void renumber_layers(const std::vector<int64_t>& links, MemoryHolders* held) {
  constexpr std::string_view kLayer = " of layer ";
  for (MemoryHolder& holder : *held) {
    const size_t at = holder.name.find(kLayer);
    if (at == std::string::npos) continue;
    const size_t number = at + kLayer.size();
    holder.name = holder.name.substr(0, number) +
                  std::to_string(links.at(std::stoul(holder.name.substr(number))));
  }
}

std::string layout_without_cut_and_order(const JobConfig& config) {
  std::map<std::string, int64_t> extents;
  for (const std::string& dim : config.mesh.dims) extents[dim] = config.mesh.extent(dim);
  const RunConfig& run = config.run;
  return fmt::format("{} {} {} {} {} {} {} {}", extents, run.micro_batches, run.schedule,
                     run.chunks, run.zero_stage, run.sequence_parallel,
                     static_cast<int>(run.recompute), job::to_yaml(config.placements));
}

std::map<std::string, int64_t> coordinates_of(const ProcessMesh& mesh, int64_t rank) {
  std::map<std::string, int64_t> out;
  const distributed::MeshCoord coord = *mesh.coord_of(rank);
  for (size_t m = 0; m < mesh.dim_names().size(); ++m) out[mesh.dim_names()[m]] = coord[m];
  return out;
}

}  // namespace

RecordedRank RankRecords::of(const JobConfig& config, int64_t rank) {
  if (const auto shorter = shorten_other_stages(config, rank)) {
    try {
      RecordedRank recorded = known_or_recorded(shorter->config, rank);
      renumber_layers(shorter->links, &recorded.totals.held_at_peak);
      return recorded;
    } catch (const Error&) {  // it numbers layers otherwise: that of the whole job is reported
    }
  }
  return known_or_recorded(config, rank);
}

// Nothing if the order of mesh dims has an effect on the record.
std::optional<RecordedRank> RankRecords::Known::in(const ProcessMesh& other) const {
  if (mesh == other) return recorded;
  auto program = distributed::simulator::in_reordered_mesh(recorded.program, rank, mesh, other);
  if (!program) return std::nullopt;
  RecordedRank out{std::move(*program), recorded.totals, {}};
  for (const std::string& dim : other.dim_names())
    out.asymmetries.push_back(recorded.asymmetries[static_cast<size_t>(mesh.dim_of(dim))]);
  for (const auto& [mesh_dim, coord] : recorded.size_changes)
    out.size_changes.emplace(other.dim_of(mesh.dim_names()[mesh_dim]), coord);
  return out;
}

RankRecords::Ranks& RankRecords::known_ranks(const JobConfig& config) {
  const std::string layout = layout_without_cut_and_order(config);
  const auto known = std::ranges::find(
      known_, layout, [](const auto& entry) -> const std::string& { return entry.first; });
  if (known == known_.end()) {
    if (known_.size() == kept_) known_.pop_back();
    known_.emplace_front(layout, Ranks());
  } else {
    std::rotate(known_.begin(), known, known + 1);
  }
  return known_.front().second;
}

RecordedRank RankRecords::known_or_recorded(const JobConfig& config, int64_t rank) {
  if (kept_ == 0) return record(config, rank);
  const ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  Ranks& ranks = known_ranks(config);
  const auto key = std::pair(config.pipeline.cut, coordinates_of(mesh, rank));
  if (const auto known = ranks.find(key); known != ranks.end()) {
    if (auto recorded = known->second.in(mesh)) return std::move(*recorded);
  }
  return ranks.insert_or_assign(key, Known{mesh, rank, record(config, rank)})
      .first->second.recorded;
}

RecordedRank RankRecords::record(const JobConfig& config, int64_t rank) const {
  const ProcessMesh mesh(config.mesh.shape, config.mesh.dims);
  const auto make_step = [&]() -> std::function<void()> {
    RankContext::current().set_deferred_transfer(FLAGS_deferred_transfer);
    const std::shared_ptr<nn::Layer> model = build_model(config, mesh, /*weights=*/nullptr);
    training::TrainerOptions options = trainer_options(config);
    options.repeats_idle = true;
    const auto trainer =
        std::make_shared<training::Trainer>(*model, config.model.row().loss, std::move(options));
    return [this, &config, model, trainer] {
      trainer->step(batches_of(config, *inputs_.data, trainer->next_batch()));
    };
  };
  return simulation::record_rank(mesh, rank, make_step, steps_);
}

}  // namespace phi::job
