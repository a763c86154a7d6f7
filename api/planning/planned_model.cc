// Trials are of the whole model: only its maker could leave layers out.
#include "api/planning/planned_model.h"

#include <algorithm>
#include <utility>
#include <vector>

#include "api/nn/layers/sequential.h"
#include "api/nn/layout/shard.h"
#include "api/nn/pattern.h"
#include "api/planning/with_blocks.h"
#include "api/simulation/predict_step.h"
#include "api/tensor/placeholder.h"
#include "distributed/pipeline/schedules/schedule.h"
#include "distributed/planner/layout_keys.h"
#include "phi/common/errors.h"

namespace phi::planning {
namespace {

using distributed::JobLayout;
using distributed::LayoutSpace;
using distributed::ProcessMesh;
using distributed::Shard;
using distributed::simulator::MachineModel;

// A tensor like `x` with another number of samples, without bytes.
Tensor samples_of(const Tensor& x, int64_t samples) {
  Dims shape = x.shape();
  shape[0] = samples;
  return placeholder(shape, x.dtype(), x.place());
}

std::vector<training::Batch> micro_batches(const training::Batch& step, int64_t samples,
                                           int64_t count) {
  const int64_t each = samples / count;
  return {static_cast<size_t>(count),
          {samples_of(step.inputs, each), samples_of(step.labels, each)}};
}

std::vector<std::string> paths_of_blocks(const nn::Layer& model, const std::string& pattern) {
  std::vector<std::string> paths;
  const auto* links = dynamic_cast<const nn::Sequential*>(&model);
  for (size_t i = 0; links && i < links->num_links(); ++i) {
    if (nn::matches(pattern, links->link(i).path())) paths.push_back(links->link(i).path());
  }
  return paths;
}

void check_model(const ModelToPlan& model) {
  PHI_CHECK(model.make && model.loss,
            errors::InvalidArgument("plan_model: `{}` is missing; pass a function.",
                                    model.make ? "loss" : "make"));
  const Dims& inputs = model.batch.inputs.shape();
  const Dims& labels = model.batch.labels.shape();
  PHI_CHECK(inputs.size() > 0 && labels.size() > 0 && inputs[0] == labels[0],
            errors::InvalidArgument("plan_model: inputs {} and labels {} need the same dim 0, the "
                                    "samples of a step.",
                                    inputs.to_string(), labels.to_string()));
}

// The lists of `fixed`, for these sizes.
LayoutSpace space_with(LayoutSpace fixed, int64_t devices, int64_t samples, int64_t layers) {
  fixed.devices = devices;
  fixed.global_batch = samples;
  fixed.layers = layers;
  // The search along tp finds sequence parallelism by itself.
  const bool is_free = fixed.sequence_parallel.empty();
  PHI_CHECK(is_free || fixed.sequence_parallel == std::vector{false},
            errors::InvalidArgument("plan_model: sequence_parallel cannot be fixed: the placements "
                                    "of activations, which are searched, contain it. Pin them."));
  fixed.sequence_parallel = {false};
  check_has_layouts(fixed);
  return fixed;
}

// The ends of the model, and one between them.
constexpr int64_t kTriedBlocks = 3;
// A weight, its gradient, and two optimizer states.
constexpr int64_t kParameterCopies = 4;
// If the states do not fit, the price of a byte is multiplied by kDearer, at most kMostPrices
// times.
constexpr double kDearer = 16;
constexpr int kMostPrices = 3;

int64_t states_of(const PlacedLayers& placed) {
  int64_t bytes = 0;
  for (const Reason& reason : placed.reasons) bytes += kParameterCopies * reason.bytes;
  return bytes;
}

}  // namespace

PlannedModel::PlannedModel(ModelToPlan model, int64_t devices, const MachineModel& machine,
                           int64_t memory_bytes, const LayoutSpace& fixed)
    : model_(std::move(model)),
      machine_(machine),
      room_(memory_bytes > 0 ? memory_bytes : machine.tensor_memory_bytes()) {
  check_model(model_);
  const std::shared_ptr<nn::Layer> made = model_.make();
  blocks_ = paths_of_blocks(*made, model_.blocks);
  if (const auto* links = dynamic_cast<const nn::Sequential*>(made.get()))
    has_repeats_ = links->has_repeats();
  if (is_shortened()) tried_blocks_ = paths_of_blocks(*make_tried(kTriedBlocks), model_.blocks);
  space_ = space_with(fixed, devices, model_.batch.inputs.shape()[0], std::ssize(blocks_));
}

bool PlannedModel::is_shortened() const {
  return model_.make_short && model_.pins.rows().empty() && std::ssize(blocks_) > kTriedBlocks;
}

std::shared_ptr<nn::Layer> PlannedModel::make_tried(int64_t blocks) const {
  if (!is_shortened()) return model_.make();
  std::shared_ptr<nn::Layer> model = model_.make_short(blocks);
  const auto own = std::ssize(paths_of_blocks(*model, model_.blocks));
  PHI_CHECK(own == blocks, errors::InvalidArgument(
                               "plan_model: `make_short` was asked for {} links '{}' and made {}.",
                               blocks, model_.blocks, own));
  return model;
}

const PlacedLayers& PlannedModel::placed(int64_t tp) const { return placed_along(tp).whole; }

const PlannedModel::Placed& PlannedModel::placed_along(int64_t tp) const {
  if (const auto known = placed_.find(tp); known != placed_.end()) return known->second;
  const int64_t stages =
      std::clamp<int64_t>(space_.devices / tp, 1, std::max<int64_t>(1, space_.layers));
  double price = update_seconds_per_byte(machine_, space_.devices);
  const auto find = [&] {
    PlacedLayers tried = placed_at(tp, price);
    PlacedLayers whole = is_shortened() ? with_blocks(tried, tried_blocks_, blocks_) : tried;
    return Placed{std::move(tried), std::move(whole)};
  };
  Placed found = find();
  for (int i = 0; i < kMostPrices && room_ > 0 && states_of(found.whole) > room_ * stages; ++i) {
    price *= kDearer;
    found = find();
  }
  return placed_[tp] = std::move(found);
}

nn::Layout PlannedModel::placed_of_trial(int64_t tp, int64_t blocks) const {
  const PlacedLayers& tried = placed_along(tp).tried;
  if (!is_shortened() || blocks == kTriedBlocks) return tried.layout;
  const auto end = tried_blocks_.begin() + blocks;
  return with_blocks(tried, tried_blocks_, {tried_blocks_.begin(), end}).layout;
}

PlacedLayers PlannedModel::placed_at(int64_t tp, double seconds_per_byte) const {
  const ProcessMesh mesh({tp}, {"tp"});
  const int64_t samples = std::max<int64_t>(1, space_.global_batch * tp / space_.devices);
  const std::shared_ptr<nn::Layer> model = make_tried(kTriedBlocks);
  const auto loss = [&](const TensorList& in) { return model_.loss((*model)(in[0]), in[1]); };
  return place_layers(
      *model, loss,
      {samples_of(model_.batch.inputs, samples), samples_of(model_.batch.labels, samples)}, mesh,
      machine_,
      {.pins = model_.pins.only_along(mesh),
       .num_ranks = space_.devices,
       .parameter_copies = kParameterCopies,
       .seconds_per_byte = seconds_per_byte});
}

ModelLayout PlannedModel::layout_of(const JobLayout& layout) const {
  return on_mesh(layout, layout.chunks, layout.tp > 1 ? &placed(layout.tp).layout : nullptr);
}

// `placed`: along tp; null: none.
ModelLayout PlannedModel::on_mesh(const JobLayout& layout, int64_t chunks,
                                  const nn::Layout* placed) const {
  ModelLayout out{mesh_of(layout), {}, model_.options};
  if (placed) out.layout.add(*placed);
  out.layout.batches({{"dp", Shard(0)}}).add(model_.pins.only_along(out.mesh));
  if (layout.pp * chunks > 1) out.layout.pipeline("pp", model_.blocks, chunks, layout.cut);
  if (layout.zero_stage > 0) out.layout.zero(layout.zero_stage, "dp");
  out.options.micro_batches = layout.micro_batches;
  out.options.schedule = name_of(layout.schedule);
  out.options.recompute = layout.recompute;
  return out;
}

std::optional<std::string> PlannedModel::refusal(const JobLayout& layout) const {
  if (layout.recompute == nn::Recompute::kFull && !has_repeats_)
    return "full recomputation needs a Sequential with repeated links";
  return std::nullopt;
}

Trial PlannedModel::trial(const JobLayout& layout, int64_t global_batch, int64_t layers) const {
  const int64_t all = std::max<int64_t>(1, space_.layers);
  const int64_t own = is_shortened() ? std::min(layers, kTriedBlocks) : all;
  const bool by_layer = layout.chunks == 0 && own > 1;
  const int64_t chunks = by_layer ? own : std::max<int64_t>(1, layout.chunks);
  JobLayout whole = layout;
  whole.cut.clear();
  if (layout.chunks == 0 && !by_layer) whole.schedule = distributed::pipeline::ScheduleKind::k1F1B;
  nn::Layout placed;
  if (layout.tp > 1) placed = placed_of_trial(layout.tp, own);
  ModelLayout laid_out = on_mesh(whole, chunks, layout.tp > 1 ? &placed : nullptr);
  laid_out.options.capture = false;
  laid_out.options.memory = {};
  Trial out;
  out.model = make_tried(own);
  nn::shard(*out.model, laid_out.mesh, laid_out.layout);
  const auto trainer =
      std::make_shared<training::Trainer>(*out.model, model_.loss, laid_out.options);
  out.step = [trainer, model = out.model,
              batches = micro_batches(model_.batch, global_batch, layout.micro_batches)] {
    trainer->step(batches);
  };
  out.state_bytes = [trainer] { return trainer->state_bytes(); };
  out.layers = {all};
  if (by_layer) {
    out.layers.assign(static_cast<size_t>(own), 1);
    if (own > 2) out.layers[1] += all - own;
  }
  return out;
}

std::function<void()> PlannedModel::make_step(const ModelLayout& laid_out) const {
  const std::shared_ptr<nn::Layer> model = model_.make();
  nn::shard(*model, laid_out.mesh, laid_out.layout);
  training::TrainerOptions options = laid_out.options;
  options.repeats_idle = true;
  const auto trainer = std::make_shared<training::Trainer>(*model, model_.loss, std::move(options));
  return [trainer, model,
          batches = micro_batches(model_.batch, space_.global_batch,
                                  laid_out.options.micro_batches)] { trainer->step(batches); };
}

simulation::RankTotals PlannedModel::totals_of(const JobLayout& layout, int64_t rank) const {
  const ModelLayout laid_out = layout_of(layout);
  return simulation::record_rank(
             laid_out.mesh, rank, [&] { return make_step(laid_out); }, /*steps=*/2)
      .totals;
}

simulation::PredictedStep PlannedModel::predict(const JobLayout& layout) const {
  const ModelLayout laid_out = layout_of(layout);
  return simulation::predict_step(laid_out.mesh, [&] { return make_step(laid_out); }, machine_,
                                  {.items = model_.batch.labels.numel()});
}

}  // namespace phi::planning
