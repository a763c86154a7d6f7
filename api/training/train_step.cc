// The model as a PipelineModel, and the operators of one step.
#include "api/training/train_step.h"

#include "api/nn/apply_placements.h"
#include "api/nn/layout/shard.h"
#include "api/training/shard_optimizer.h"
#include "distributed/api.h"
#include "distributed/pipeline/schedules/make_schedule.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::training {
namespace {

namespace pipeline = distributed::pipeline;
using distributed::TensorDistAttr;

struct MicroBatch {
  Tensor inputs;
  Tensor labels;
};

// Passes micro-batches through the model.
class StepModel final : public PipelineModel {
 public:
  StepModel(const nn::Layer& model, const nn::Sequential* links, const LossFunction& loss,
            std::vector<MicroBatch> batches, uint64_t first_micro_batch, bool fixes_draws)
      : model_(model),
        links_(links),
        loss_(loss),
        batches_(std::move(batches)),
        first_micro_batch_(first_micro_batch),
        fixes_draws_(fixes_draws),
        first_draw_(RankContext::current().generator().state().draws),
        draws_(batches_.size()) {}

  int num_chunks() const override { return links_ ? links_->num_chunks() : 1; }

  Tensor forward(int chunk, const Tensor& input, int64_t micro_batch) override {
    const MicroBatch& batch = batches_[static_cast<size_t>(micro_batch)];
    Generator& generator = RankContext::current().generator();
    GeneratorState& draws = draws_[static_cast<size_t>(micro_batch)];
    if (chunk == 0) draws = draws_of(static_cast<uint64_t>(micro_batch));
    const Generator::Scope drawing(generator, draws);
    Tensor out = forward_chunk(chunk, chunk == 0 ? batch.inputs : input);
    if (chunk + 1 == num_chunks()) out = loss_(out, batch.labels);
    draws = generator.state();
    return out;
  }

  const TensorDistAttr* input_attr(int chunk, const Tensor& x) const override {
    return links_->chunk_input_attr(chunk, x);
  }

 private:
  // The draws of a micro-batch, independent of the schedule's order. A captured step counts its
  // micro-batches from 0, because the number of a forward context is not part of the program,
  // unless its draws are fixed.
  GeneratorState draws_of(uint64_t micro_batch) const {
    RankContext& rank = RankContext::current();
    GeneratorState state =
        state_in_pass(rank.generator().state().seed, first_micro_batch_ + micro_batch);
    state.draws = first_draw_ + (micro_batch << kPassBits);
    if (rank.recorder() && !fixes_draws_) state.pass.reset();
    return state;
  }
  Tensor forward_chunk(int chunk, const Tensor& x) const {
    return links_ && num_chunks() > 1 ? links_->forward_chunk(chunk, x) : model_(x);
  }

  const nn::Layer& model_;
  const nn::Sequential* links_;
  const LossFunction& loss_;
  const std::vector<MicroBatch> batches_;
  const uint64_t first_micro_batch_;
  const bool fixes_draws_;
  const uint64_t first_draw_;
  std::vector<GeneratorState> draws_;  // of each micro-batch, after its last chunk
};

int stages_of(const nn::Sequential* links) { return links ? links->num_stages() : 1; }

}  // namespace

TrainStep::TrainStep(nn::Layer& model, LossFunction loss, TrainerOptions options)
    : model_(model),
      links_(dynamic_cast<nn::Sequential*>(&model)),
      loss_(std::move(loss)),
      options_(std::move(options)) {
  check_options();
  model_.set_recompute(options_.recompute);
  // Zero-bubble schedules defer weight gradients, which a scan cannot do.
  if (links_) links_->set_scan(options_.capture && !options_.schedule.starts_with("zb_"));
  if (!options_.trains) return;
  make_optimizer();
  const int stages = stages_of(links_);
  const int chunks = links_ ? links_->num_chunks() / stages : 1;
  program_ = PipelineProgram::of(pipeline::parse_schedule_kind(options_.schedule), stages,
                                 static_cast<int>(options_.micro_batches), chunks);
}

void TrainStep::check_options() const {
  PHI_CHECK(options_.micro_batches >= 1,
            errors::InvalidArgument("a step of {} micro-batches; use 1 or more.",
                                    options_.micro_batches));
  PHI_CHECK(!options_.capture || !model_.drops_now(),
            errors::InvalidArgument(
                "dropout draws new numbers in each step, which a captured step does not support; "
                "build the model without dropout, call set_training(false), or do not capture."));
  PHI_CHECK(options_.capture || !options_.memory.is_limited(),
            errors::InvalidArgument("memory limits apply only to captured steps, whose memory use "
                                    "is known in advance; set `capture` too."));
  PHI_CHECK(options_.recompute != nn::Recompute::kFull || (links_ && links_->has_repeats()),
            errors::InvalidArgument("full recompute applies to the links that "
                                    "nn::Sequential::repeat creates, and the model has none."));
}

void TrainStep::make_optimizer() {
  optimized_names_ = training::optimized_names(model_);
  const MemoryUseScope use(MemoryUse::kStates);
  optimizer_.emplace(shard_optimizer(model_, options_.optimizer));
}

Tensor TrainStep::place_inputs(const Tensor& x) const {
  return nn::apply_placements(x, model_.sharding() ? model_.sharding()->inputs : nullptr);
}

Tensor TrainStep::place_labels(const Tensor& labels) const {
  return nn::apply_placements(labels, model_.sharding() ? model_.sharding()->outputs : nullptr);
}

// The inputs after those of the micro-batches.
TensorList TrainStep::scalars_in(const TensorList& inputs) const {
  return {inputs.begin() + 2 * options_.micro_batches, inputs.end()};
}

Tensor TrainStep::run_gradients(const TensorList& inputs) {
  std::vector<MicroBatch> batches;
  for (size_t i = 0; i < static_cast<size_t>(options_.micro_batches); ++i) {
    batches.push_back({inputs[2 * i], inputs[2 * i + 1]});
  }
  StepModel model(model_, links_, loss_, std::move(batches), first_micro_batch_, fixes_draws_);
  if (!optimizer_) return run_forward(model, options_.micro_batches);
  return run_schedule(model, *program_, scales_loss() ? scalars_in(inputs)[2] : Tensor(),
                      options_.repeats_idle && !options_.capture);
}

// If a micro-batch fails or is interrupted, drops the gradients that earlier ones accumulated, so
// that they do not enter the next step.
Tensor TrainStep::run_whole(const TensorList& inputs) {
  try {
    return run_gradients(inputs);
  } catch (...) {
    for (auto [name, parameter] : model_.named_parameters()) parameter.clear_grad();
    throw;
  }
}

TensorList TrainStep::run(const TensorList& inputs) {
  const Tensor loss = run_whole(inputs);
  if (!optimizer_) return {everywhere(loss)};
  gradient_bytes_ = optimizer_->bytes_here().gradients;
  const TensorList scalars = scalars_in(inputs);
  const Tensor norm =
      optimizer_->apply({.learning_rate = scalars[0],
                         .step = scalars[1],
                         .inverse_loss_scale = scales_loss() ? scalars[3] : Tensor()},
                        /*with_norm=*/true);
  return {everywhere(loss), norm};
}

Tensor TrainStep::everywhere(const Tensor& loss) const {
  return loss.is_dist() ? distributed::reshard(loss, model_.sharding()->mesh, {}) : loss;
}

}  // namespace phi::training
