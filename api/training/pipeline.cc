// The actions of a pipeline schedule on tensors: what each step of the program order does on every
// rank.
#include "api/training/pipeline.h"

#include <map>
#include <optional>
#include <set>
#include <tuple>
#include <utility>

#include "api/autograd/autograd.h"
#include "api/autograd/grad_node.h"
#include "api/call/call_site.h"
#include "api/call/traced_action.h"
#include "api/generated/ops/add_n.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/scale.h"
#include "api/tensor/deferred.h"
#include "distributed/api.h"
#include "distributed/pipeline/schedules/make_schedule.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi::training {

using distributed::PendingTensor;
using distributed::pipeline::Action;
using distributed::pipeline::ActionKind;
using distributed::pipeline::Schedule;
using distributed::pipeline::ScheduleStep;

namespace {

// Micro-batch state: what a chunk keeps of a micro-batch between its actions.
struct MicroBatchState {
  std::optional<PendingTensor> arriving;  // the input, in transfer
  Tensor input;                           // a leaf if the input has a gradient
  Tensor output;                          // metadata and history only, once it has been sent
  TensorForm output_form;
  std::optional<PendingTensor> grad_arriving;  // the gradient of the output, in transfer
  Tensor input_grad;
  DeferredGradients weights;
};

// Whether a rank has launched or sent anything since an earlier state of its counters.
bool is_idle_since(const Counters& before, const Counters& now) {
  const auto has_sent = [](const Traffic& a, const Traffic& b) { return a.messages != b.messages; };
  for (size_t i = 0; i < kNumCollectives; ++i) {
    if (has_sent(before.traffic[i], now.traffic[i])) return false;
  }
  return before.ops_launched == now.ops_launched && before.reshard_steps == now.reshard_steps &&
         before.bytes_sent == now.bytes_sent && before.bytes_received == now.bytes_received;
}

class ScheduleRun {
 public:
  ScheduleRun(PipelineModel& model, const PipelineProgram& program, const Tensor& loss_scale,
              bool repeats_idle)
      : model_(model),
        program_(program),
        schedule_(program.schedule()),
        loss_scale_(loss_scale),
        repeats_idle_(repeats_idle),
        states_(static_cast<size_t>(model.num_chunks() * schedule_.micro_batches)) {}

  Tensor run() {
    for (size_t i = 0; i < program_.order().size(); ++i) {
      const ScheduleStep& step = program_.order()[i];
      const int chunk = schedule_.virtual_stage(step.stage, step.action.chunk);
      const RankWorkScope work(RankContext::current(), step.action.micro_batch, chunk);
      switch (step.kind) {
        case ScheduleStep::kAction:
          act(step.action, chunk);
          break;
        case ScheduleStep::kTransferForward:
          send_output(chunk, step.action.micro_batch);
          break;
        case ScheduleStep::kTransferBackward:
          send_gradient(chunk, step.action.micro_batch);
          break;
      }
      for (const size_t transfer : program_.released()[i]) release(program_.order()[transfer]);
    }
    return scale(add_n(losses_), 1.0 / static_cast<double>(schedule_.micro_batches));
  }

 private:
  using TransferKey = std::pair<ScheduleStep::Kind, int>;  // and the chunk that sends

  bool is_last(int chunk) const { return chunk == model_.num_chunks() - 1; }
  MicroBatchState& state_of(int chunk, int micro_batch) {
    return states_[static_cast<size_t>(chunk * schedule_.micro_batches + micro_batch)];
  }

  void act(const Action& action, int chunk) {
    MicroBatchState& own = state_of(chunk, action.micro_batch);
    TracedAction traced(letter_of(action.kind), action.micro_batch, name_of(action.kind).data());
    if (repeats_idle_) {
      repeat(own, action, chunk);
    } else {
      run(own, action, chunk);
    }
    traced.made(own.output_form.attr);
  }

  void run(MicroBatchState& own, const Action& action, int chunk) {
    switch (action.kind) {
      case ActionKind::kForward:
        forward(own, chunk, action.micro_batch);
        break;
      case ActionKind::kBackward:
        backward(own, chunk, nullptr);
        break;
      case ActionKind::kBackwardInput:
        backward(own, chunk, &own.weights);
        break;
      case ActionKind::kBackwardWeight:
        own.weights.run();
        break;
    }
  }

  // Runs the action, or repeats its result if this rank was idle in it for another micro-batch. A
  // rank that works in a forward may have a part of its gradients, in either part of a backward.
  void repeat(MicroBatchState& own, const Action& action, int chunk) {
    const auto known = idle_.find({action.kind, chunk});
    if (known == idle_.end() || !idle_.contains({ActionKind::kForward, chunk})) {
      const Counters before = RankContext::current().counters();
      run(own, action, chunk);
      if (!is_idle_since(before, RankContext::current().counters())) return;
      const Tensor& made = action.kind == ActionKind::kForward ? own.output : own.input_grad;
      idle_[{action.kind, chunk}] = made.defined() ? without_bytes(made.detach()) : Tensor();
      return;
    }
    if (action.kind == ActionKind::kForward) {
      if (own.arriving) own.arriving->wait();
      own.output = known->second;
      own.output_form = TensorForm::of(own.output);
      if (is_last(chunk)) losses_.push_back(own.output);
    } else if (action.kind != ActionKind::kBackwardWeight) {
      if (own.grad_arriving) own.grad_arriving->wait();
      own.output = Tensor();
      own.input_grad = known->second;
    }
  }

  void forward(MicroBatchState& own, int chunk, int micro_batch) {
    if (chunk > 0) {
      own.input = own.arriving->wait().detach();
      own.input.set_requires_grad();
    }
    own.output = model_.forward(chunk, own.input, micro_batch);
    own.output_form = TensorForm::of(own.output);
    if (is_last(chunk)) losses_.push_back(own.output.detach());
  }

  void send_output(int chunk, int micro_batch) {
    MicroBatchState& own = state_of(chunk, micro_batch);
    if (is_left_out({ScheduleStep::kTransferForward, chunk}, chunk + 1)) return;
    const auto* attr = model_.input_attr(chunk + 1, own.output);
    note_if_outside({ScheduleStep::kTransferForward, chunk}, own.output, *attr);
    const CallSite::ReasonScope because("sent to the next stage");
    state_of(chunk + 1, micro_batch).arriving =
        distributed::start_reshard(own.output.detach(), attr->mesh(), attr->placements());
    own.output = without_bytes(own.output);
  }

  // Releases the buffers of a transfer. Their memory is then held up to the same step in every run.
  void release(const ScheduleStep& transfer) {
    const int chunk = schedule_.virtual_stage(transfer.stage, transfer.action.chunk);
    if (transfer.kind == ScheduleStep::kTransferForward) {
      finish_sending(state_of(chunk + 1, transfer.action.micro_batch).arriving);
    } else {
      finish_sending(state_of(chunk - 1, transfer.action.micro_batch).grad_arriving);
    }
  }
  static void finish_sending(std::optional<PendingTensor>& transfer) {
    if (transfer) transfer->finish_sending();
  }

  // Whether this rank is on neither side of a transfer, and repeats the result of what needs it.
  bool is_left_out(const TransferKey& transfer, int consumer) const {
    if (!outside_.contains(transfer)) return false;
    const bool is_forward = transfer.first == ScheduleStep::kTransferForward;
    const bool has_result = is_forward || idle_.contains({ActionKind::kBackward, consumer}) ||
                            idle_.contains({ActionKind::kBackwardInput, consumer});
    return has_result && idle_.contains({ActionKind::kForward, consumer});
  }
  void note_if_outside(const TransferKey& transfer, const Tensor& sent,
                       const distributed::TensorDistAttr& to) {
    const int64_t rank = RankContext::current().rank();
    if (repeats_idle_ && sent.is_dist() && !sent.dist_attr()->mesh().contains(rank) &&
        !to.mesh().contains(rank))
      outside_.insert(transfer);
  }

  // With `weights`, gradients of the chunk's parameters are deferred into it.
  void backward(MicroBatchState& own, int chunk, DeferredGradients* weights) {
    Tensor grad;
    if (is_last(chunk)) {
      grad = seed(own.output);
    } else {
      grad = own.grad_arriving->wait();
    }
    if (weights) {
      backward_deferring(own.output, grad, {own.input}, weights);
    } else {
      own.output.backward(grad);
    }
    own.output = Tensor();
    if (own.input.defined()) own.input_grad = own.input.grad_so_far();
    own.input = Tensor();
  }

  // The gradient of one micro-batch's loss: its share of the mean, times the loss scale.
  Tensor seed(const Tensor& loss) const {
    const double share = 1.0 / static_cast<double>(schedule_.micro_batches);
    if (!loss_scale_.defined()) return deferred_full(loss.shape(), share, loss.dtype());
    return cast(scale(loss_scale_, share), loss.dtype());
  }

  void send_gradient(int chunk, int micro_batch) {
    MicroBatchState& own = state_of(chunk, micro_batch);
    MicroBatchState& before = state_of(chunk - 1, micro_batch);
    if (is_left_out({ScheduleStep::kTransferBackward, chunk}, chunk - 1)) return;
    const auto* attr = before.output_form.attr;
    note_if_outside({ScheduleStep::kTransferBackward, chunk}, own.input_grad, *attr);
    const CallSite::ReasonScope because("a gradient sent to the previous stage");
    before.grad_arriving =
        distributed::start_reshard(own.input_grad, attr->mesh(), attr->placements());
    own.input_grad = Tensor();
  }

  PipelineModel& model_;
  const PipelineProgram& program_;
  const Schedule& schedule_;
  const Tensor loss_scale_;
  const bool repeats_idle_;
  std::map<std::pair<ActionKind, int>, Tensor> idle_;  // results by action and chunk
  std::set<TransferKey> outside_;                      // transfers that this rank has no part in
  std::vector<MicroBatchState> states_;
  TensorList losses_;
};

}  // namespace

std::shared_ptr<const PipelineProgram> PipelineProgram::of(distributed::pipeline::ScheduleKind kind,
                                                           int stages, int micro_batches,
                                                           int chunks) {
  using Key = std::tuple<distributed::pipeline::ScheduleKind, int, int, int>;
  thread_local std::pair<Key, std::shared_ptr<const PipelineProgram>> last;
  const Key key(kind, stages, micro_batches, chunks);
  if (!last.second || last.first != key) {
    last =
        std::pair(key, std::make_shared<const PipelineProgram>(distributed::pipeline::make_schedule(
                           kind, stages, micro_batches, chunks)));
  }
  return last.second;
}

Tensor run_schedule(PipelineModel& model, const PipelineProgram& program, const Tensor& loss_scale,
                    bool repeats_idle) {
  const Schedule& schedule = program.schedule();
  PHI_CHECK(schedule.stages * schedule.chunks == model.num_chunks(),
            errors::InvalidArgument(
                "the schedule {} has {} stages of {} chunks, the model has {} chunks.",
                schedule.kind, schedule.stages, schedule.chunks, model.num_chunks()));
  return ScheduleRun(model, program, loss_scale, repeats_idle).run();
}

Tensor run_forward(PipelineModel& model, int64_t micro_batches) {
  const NoGrad no_grad;
  TensorList losses;
  for (int64_t i = 0; i < micro_batches; ++i) {
    Tensor x;
    for (int chunk = 0; chunk < model.num_chunks(); ++chunk) {
      const RankWorkScope work(RankContext::current(), i, chunk);
      TracedAction traced('F', i, "forward");
      if (chunk > 0) {
        const auto* attr = model.input_attr(chunk, x);
        x = distributed::reshard(x, attr->mesh(), attr->placements());
      }
      x = model.forward(chunk, x, i);
      traced.made(x);
    }
    losses.push_back(x);
  }
  return scale(add_n(losses), 1.0 / static_cast<double>(micro_batches));
}

}  // namespace phi::training
