// Layouts as configs of jobs, and trials of few layers.
#include "tools/job/plan_subject_of.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <memory>

#include "api/nn/layout/parallelism.h"
#include "api/planning/placing/searched_rows.h"
#include "api/training/trainer.h"
#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/planner/layout_keys.h"
#include "phi/core/rank_context.h"
#include "tools/job/build.h"
#include "tools/job/config/placement_rows.h"
#include "tools/job/config/read_model.h"
#include "tools/job/predict_job.h"
#include "tools/job/run_flags.h"
#include "tools/job/shorten_other_stages.h"

namespace phi::job {
namespace {

using distributed::JobLayout;
using distributed::LayoutSpace;
using distributed::ProcessMesh;

int64_t layers_of(const JobConfig& config) {
  const std::string& key = config.model.row().repeated;
  return key.empty() ? 0 : config.model.values.size(key);
}

bool names_dim(const nn::Layout& placements, std::string_view dim) {
  return std::ranges::any_of(placements.rows(), [&](const nn::Layout::PlacementRow& row) {
    return std::ranges::any_of(row.axis_placements,
                               [&](const auto& entry) { return entry.first == dim; });
  });
}

// Mesh dims of more than one rank, and those that rows name.
MeshConfig mesh_of(const JobLayout& layout, const nn::Layout& placements) {
  MeshConfig mesh;
  for (const auto& [name, size] : distributed::mesh_dims(layout)) {
    if (size == 1 && !names_dim(placements, name)) continue;
    mesh.dims.push_back(name);
    mesh.shape.push_back(size);
  }
  if (mesh.shape.empty()) return {{1}, {"dp"}};
  return mesh;
}

// Links that pipelines distribute are layer0, layer1, .. (nn::TransformerLayoutOptions::blocks).
constexpr const char* kLayerName = "layer";

nn::Layout activation_rows(const nn::Layout& layout) {
  nn::Layout out;
  for (const nn::Layout::PlacementRow& row : layout.rows()) {
    if (row.kind != nn::Layout::Kind::kParameters) out.add(row);
  }
  return out;
}

// Whose records are kept: a cut and another one are often finalists one after the other.
constexpr size_t kKeptLayouts = 2;

void set_run(RunConfig* run, const JobLayout& layout) {
  run->micro_batches = layout.micro_batches;
  run->schedule = name_of(layout.schedule);
  run->chunks = layout.chunks;
  run->zero_stage = layout.zero_stage;
  run->sequence_parallel = layout.sequence_parallel;
  run->recompute = layout.recompute;
}

}  // namespace

std::vector<ChangedKey> PlannedJob::keys_of(const JobLayout& layout) const {
  const JobConfig config = config_of(layout);
  const MeshConfig& mesh = config.mesh;
  std::vector<ChangedKey> out = {
      {"mesh", fmt::format("{{shape: [{}], dims: [{}]}}", fmt::join(mesh.shape, ", "),
                           fmt::join(mesh.dims, ", "))},
      {"run.micro_batches", std::to_string(layout.micro_batches)},
      {"run.schedule", std::string(name_of(layout.schedule))},
      {"run.chunks", std::to_string(layout.chunks)},
      {"run.zero_stage", std::to_string(layout.zero_stage)},
      {"run.sequence_parallel", layout.sequence_parallel ? "true" : "false"},
      {"run.recompute", std::string(name_of(layout.recompute))},
      {"pipeline.cut", fmt::format("[{}]", fmt::join(layout.cut, ", "))}};
  if (!config.placements.rows().empty()) out.push_back({"placements", to_yaml(config.placements)});
  return out;
}

void check_is_planned(const JobConfig& config) {
  if (config.mode == "train") return;
  throw config.wrong({"mode"},
                     fmt::format("mode {} is not planned; set mode: train.", config.mode));
}

PlannedJob::PlannedJob(const Setup& setup, int64_t devices, const std::vector<std::string>& fixed,
                       int64_t steps, const distributed::simulator::MachineModel& machine)
    : setup_(setup), machine_(machine), records_(setup, steps, kKeptLayouts) {
  const JobConfig& config = setup.config;
  check_is_planned(config);
  space_.devices = devices;
  space_.global_batch = config.run.global_batch;
  space_.layers = layers_of(config);
  distributed::fix_keys(fixed, &space_);
  distributed::check_has_layouts(space_);
  check_fits(config, machine);
  model_flops_ = model_flops(setup, machine);
}

// With the mesh and the run keys of the layout. Rows of the job override those of the search.
JobConfig PlannedJob::config_of(const JobLayout& layout) const {
  JobConfig config = setup_.config;
  if (layout.has_searched_placements)
    config.placements = searched_rows(layout) + setup_.config.placements;
  config.mesh = mesh_of(layout, config.placements);
  config.pipeline.cut = layout.cut;
  set_run(&config.run, layout);
  return config;
}

std::optional<std::string> PlannedJob::refusal(const JobLayout& layout) const {
  try {
    check_model_fits_mesh(config_of(layout));
  } catch (const Error& error) {
    return error.what();
  }
  return std::nullopt;
}

planning::Trial PlannedJob::trial(const JobLayout& layout, int64_t global_batch,
                                  int64_t most_layers) const {
  auto config = std::make_shared<JobConfig>(setup_.config);
  config->mesh = {{layout.dp, 1, layout.tp}, {"dp", "pp", "tp"}};
  if (layers_of(*config) == 0) config->mesh = {{layout.dp, layout.tp}, {"dp", "tp"}};
  set_run(&config->run, layout);
  config->run.global_batch = global_batch;
  config->pipeline.cut.clear();
  config->run.capture = false;
  config->memory = {};
  planning::Trial out;
  const int64_t layers = std::max<int64_t>(1, layers_of(*config));
  if (layers > 1) {
    const bool are_alike = treats_layers_alike(config->placements);
    const int64_t own = are_alike ? std::min(layers, most_layers) : layers;
    config->model.values.set(config->model.row().repeated, own);
    out.layers.assign(static_cast<size_t>(own), 1);
    if (own > 2) out.layers[1] += layers - own;
  }
  if (layout.chunks == 0) config->run.chunks = static_cast<int64_t>(out.layers.size());
  if (config->run.chunks == 1) {
    if (layout.chunks == 0) config->run.schedule = "1f1b";
    out.layers = {layers};
  }
  RankContext::current().set_deferred_transfer(FLAGS_deferred_transfer);
  const ProcessMesh mesh(config->mesh.shape, config->mesh.dims);
  std::shared_ptr<nn::Sequential> model = build_model(*config, mesh, /*weights=*/nullptr);
  const auto trainer = std::make_shared<training::Trainer>(*model, config->model.row().loss,
                                                           trainer_options(*config));
  out.step = [this, config, model, trainer] {
    trainer->step(batches_of(*config, *setup_.data, trainer->next_batch()));
  };
  out.state_bytes = [trainer] { return trainer->state_bytes(); };
  out.model = std::move(model);
  return out;
}

planning::ExplainedLayers PlannedJob::explain(const JobLayout& layout) const {
  return search(layout, /*moves_declared=*/true);
}

bool PlannedJob::can_search_placements(const JobLayout& layout) const {
  return layout.tp > 1 && !searched_rows(layout).rows().empty();
}

const nn::Layout& PlannedJob::searched_rows(const JobLayout& layout) const {
  const int64_t samples = setup_.config.run.global_batch / layout.dp / layout.micro_batches;
  const SearchKey key(layout.tp, layout.sequence_parallel, samples, layout.micro_batches);
  if (const auto known = searched_.find(key); known != searched_.end()) return known->second;
  return searched_[key] =
             planning::searched_rows(search(layout, /*moves_declared=*/false), kLayerName);
}

// Unless `moves_declared`, activations stay where modules place them: a job's rows can move, but
// not release them.
planning::ExplainedLayers PlannedJob::search(const JobLayout& layout, bool moves_declared) const {
  constexpr int64_t kLayers = 3;  // the ends of the model, and one between them
  const JobConfig& config = setup_.config;
  const nn::models::ModelKind& kind = config.model.row();
  nn::models::ModelValues values = config.model.values;
  if (layers_of(config) > kLayers && treats_layers_alike(config.placements))
    values.set(kind.repeated, kLayers);
  const std::unique_ptr<nn::Sequential> model = kind.make(values);
  model->initialise(static_cast<uint64_t>(config.model.seed), config.run.dtype);
  const ProcessMesh mesh({layout.tp}, {"tp"});
  const nn::Layout of_modules =
      (nn::tensor_parallel("tp", layout.sequence_parallel) + kind.placements).only_along(mesh);
  const nn::Layout of_job = config.placements.only_along(mesh);
  const int64_t samples = config.run.global_batch / layout.dp / layout.micro_batches;
  const auto loss = [&](const TensorList& in) { return kind.loss((*model)(in[0]), in[1]); };
  return planning::explain_layers(
      *model, loss, {setup_.data->inputs(0, samples), setup_.data->labels(0, samples)}, mesh,
      machine_, of_modules + of_job,
      {.pins = moves_declared ? nn::Layout() : activation_rows(of_modules.of(*model)) + of_job,
       .num_ranks = layout.ranks(),
       .seconds_per_byte = planning::update_seconds_per_byte(machine_, layout.ranks()) /
                           static_cast<double>(layout.micro_batches)});
}

simulation::RankTotals PlannedJob::totals_of(const JobLayout& layout, int64_t rank) const {
  return records_.of(config_of(layout), rank).totals;
}

simulation::PredictedStep PlannedJob::predict(const JobLayout& layout) const {
  return predict_config(config_of(layout), records_, machine_, model_flops_).step;
}

}  // namespace phi::job
