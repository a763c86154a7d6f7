// Turns observed calls and moves into rows of an explanation.
#include "api/explain/explainer.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <utility>

#include "api/call/call_site.h"
#include "api/call/decision.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi {

using distributed::ReshardBegin;
using distributed::ReshardEnd;
using distributed::ReshardPhase;
using distributed::ReshardPlan;
using distributed::ReshardStep;
using distributed::TensorDistAttr;

namespace {

std::string mesh_dims_of(const ReshardStep& step) {
  if (step.kind == ReshardStep::Kind::kSendRecv) return "between meshes";
  const TensorDistAttr* attr =
      step.kind == ReshardStep::Kind::kFillPartial ? step.to() : step.from();
  const auto& names = attr->mesh().dim_names();
  std::vector<std::string_view> over;
  for (int m = 0; m < attr->mesh().ndim(); ++m) {
    if ((step.over >> m) & 1u) over.push_back(names[static_cast<size_t>(m)]);
  }
  return fmt::format("{}", fmt::join(over, ","));
}

MovedBytes bytes_of(const ReshardEnd& move) {
  return {move.bytes_sent, move.bytes_received, move.nanoseconds};
}

MovedBytes bytes_between(const Counters& before, const Counters& after) {
  return {after.bytes_sent - before.bytes_sent, after.bytes_received - before.bytes_received, 0};
}

}  // namespace

// One call, from its arguments to its outputs.
class Explainer::OpenCall {
 public:
  OpenCall(Explainer& explainer, const OpDef& op, const CallSlots& inputs)
      : explainer_(explainer),
        op_(op),
        begin_(inputs.begin),
        row_(explainer.calls_.size()),
        depth_(explainer.open_calls_.size()),
        is_inner_(depth_ > 0),
        before_(explainer.context_.counters()),
        start_ns_(Trace::now_ns()) {
    ExplainedCall& call = explainer.new_call();
    call.op = OpScope::current() ? OpScope::current() : op.name;
    for (size_t i = 0; i < inputs.tensors.size(); ++i) add_input(inputs, i, &call);
  }

  void end() {
    // Failed calls, and the calls on local parts within a distributed call, have no row.
    if (!has_outputs_ || (is_inner_ && !is_distributed_)) {
      explainer_.calls_[row_] = nullptr;
    } else if (!row().computes_here) {
      ++explainer_.explanation_.calls_elsewhere;
      // A clipped call keeps its row only if this rank sends something for it.
      if (row().moves.empty()) explainer_.calls_[row_] = nullptr;
    }
  }

  void set_decision(const Decision& decision) {
    is_distributed_ = true;
    row().computes_here = decision.computes_here();
    mesh_ = decision.mesh();
    for (size_t slot = 0; slot < decision.num_inputs(); ++slot) {
      row().inputs[slot].wanted = decision.input(slot).attr;
      if (!row().layout) row().layout = decision.input(slot).attr;
    }
    for (size_t slot = 0; slot < decision.num_outputs(); ++slot) {
      outputs_.push_back(decision.output(slot).present ? decision.output(slot).attr : nullptr);
      if (!row().layout) row().layout = outputs_.back();
    }
  }

  void set_outputs(const std::vector<AttributeValue>& attributes, const CallSlots& outputs) {
    has_outputs_ = true;
    for (size_t i = 0; i < outputs.tensors.size(); ++i) {
      const Tensor& x = *outputs.tensors[i];
      if (!x.defined()) continue;
      const std::string name =
          op_.outputs.empty() ? "out" : op_.outputs[std::min(i, op_.outputs.size() - 1)];
      row().outputs.push_back({name, "", x.meta(), x.is_dist() ? x.dist_attr() : nullptr});
    }
    if (mesh_.defined()) explain(attributes);
    row().rule = op_.rule.name ? op_.rule.name : "";
    MovedBytes all = bytes_between(before_, explainer_.context_.counters());
    all.nanoseconds = Trace::now_ns() - start_ns_;
    row().kernel += all;  // without the moves within the call, which are counted there
    if (is_inner_ && is_distributed_) explainer_.open_calls_[depth_ - 1]->row().kernel -= all;
  }

  /// The input that this reshard brings to the placements that the rule requires; null: none.
  const ExplainedCall::Argument* input_for(const ReshardPlan& plan) {
    for (size_t i = 0; i < row().inputs.size(); ++i) {
      const ExplainedCall::Argument& input = row().inputs[i];
      const bool moved = std::ranges::find(moved_, i) != moved_.end();
      if (moved || !input.wanted || input.wanted != plan.dst || input.meta.dims != plan.shape ||
          !(input.attr ? input.attr == plan.src : plan.src->is_replicated())) {
        continue;
      }
      moved_.push_back(i);
      return &input;
    }
    return nullptr;
  }

  size_t number() const { return row_; }
  ExplainedCall& row() { return *explainer_.calls_[row_]; }

 private:
  void add_input(const CallSlots& inputs, size_t i, ExplainedCall* call) {
    const Tensor& x = *inputs.tensors[i];
    ExplainedCall::Argument& input = call->inputs.emplace_back();
    input.name = name_of_slot(op_, inputs, i);
    if ((op_.meta_only >> argument_of(inputs, i)) & 1u) unread_.push_back(i);
    if (!x.defined()) return;
    input.value = explainer_.names_.of(array_of(x));
    input.meta = x.meta();
    input.attr = x.is_dist() ? x.dist_attr() : nullptr;
    is_distributed_ = is_distributed_ || x.is_dist();
  }

  void explain(const std::vector<AttributeValue>& attributes) {
    DistributedCall call{op_, mesh_, attributes, {}, begin_, outputs_};
    for (const ExplainedCall::Argument& input : row().inputs) {
      call.inputs.push_back({input.name, input.meta, input.attr, input.wanted});
    }
    const Reasons reasons = explainer_.reasons_for(call);
    for (size_t i = 0; i < row().inputs.size(); ++i) row().inputs[i].reason = reasons.inputs[i];
    size_t given = 0;
    for (size_t o = 0; o < outputs_.size() && given < row().outputs.size(); ++o) {
      if (outputs_[o]) row().outputs[given++].reason = reasons.outputs[o];
    }
    for (ExplainedMove& move : row().moves) {
      for (const ExplainedCall::Argument& input : row().inputs) {
        if (!move.tensor.empty() && input.name == move.tensor) move.reason = input.reason;
      }
    }
    // Inputs of which only the shape is used are not moved.
    for (const size_t i : unread_) {
      row().inputs[i].wanted = row().inputs[i].attr;
      row().inputs[i].reason.clear();
    }
  }

  Explainer& explainer_;
  const OpDef& op_;
  const std::vector<int> begin_;
  const size_t row_;
  const size_t depth_;
  const bool is_inner_;
  const Counters before_;
  const int64_t start_ns_;
  bool is_distributed_ = false;
  bool has_outputs_ = false;
  distributed::ProcessMesh mesh_;  // undefined: not decided
  std::vector<const TensorDistAttr*> outputs_;
  std::vector<size_t> moved_;   // indices of inputs
  std::vector<size_t> unread_;  // indices of inputs of which only the shape is used
};

Explainer::Explainer(const TensorNames& names)
    : context_(RankContext::current()), names_(names), scope_(*this, context_) {
  explanation_.rank = context_.rank();
  explanation_.world_size = context_.world_size();
  explanation_.is_dry = context_.is_dry();
}

Explainer::~Explainer() = default;

Explanation Explainer::take() {
  for (auto& call : calls_) {
    if (call) explanation_.calls.push_back(std::move(*call));
  }
  calls_.clear();
  return std::move(explanation_);
}

void Explainer::on_call_begin(const CallBegin& event) {
  open_calls_.push_back(std::make_unique<OpenCall>(*this, event.op, event.inputs));
}

void Explainer::on_decision(const CallDecision& event) {
  open_calls_.back()->set_decision(event.decision);
}

void Explainer::on_call_outputs(const CallOutputs& event) {
  open_calls_.back()->set_outputs(event.attributes, event.outputs);
}

void Explainer::on_call_end(const CallEnd&) noexcept {
  open_calls_.back()->end();
  open_calls_.pop_back();
}

ExplainedCall& Explainer::new_call() {
  calls_.push_back(std::make_unique<ExplainedCall>());
  place(calls_.back().get());
  return *calls_.back();
}

// Sets the current module, file, line and action of a call.
void Explainer::place(ExplainedCall* call) const {
  const CallSite& site = CallSite::current();
  if (site.module) call->module = site.module;
  if (site.file) call->file = site.file;
  call->line = site.line;
  if (const char* action = context_.action()) call->action = action;
  call->micro_batch = context_.work().micro_batch;
  call->chunk = context_.work().chunk;
}

// Cached: equal layers make equal calls.
Reasons Explainer::reasons_for(const DistributedCall& call) {
  std::string key =
      fmt::format("{} {} {}", call.to_string(), call.mesh.id(), fmt::join(call.begin, ","));
  for (const DistributedCall::Slot& slot : call.inputs) {
    key += fmt::format(" {} {} {} {}", slot.name, slot.meta.to_string(),
                       static_cast<const void*>(slot.given), static_cast<const void*>(slot.wanted));
  }
  for (const TensorDistAttr* out : call.outputs) {
    key += fmt::format(" {}", static_cast<const void*>(out));
  }
  const auto known = known_reasons_.find(key);
  if (known != known_reasons_.end()) return known->second;
  return known_reasons_[key] = reasons_of(call);
}

// ---- reshards ----

// A move belongs to the innermost open call; without one it is a row of its own.
void Explainer::on_reshard_begin(const ReshardBegin& event) {
  if (event.phase != ReshardPhase::kWhole) return;
  const ReshardPlan& plan = event.plan;
  ExplainedMove move;
  move.meta = {plan.shape, plan.dtype};
  move.from = plan.src;
  move.to = plan.dst;
  move.value = names_.of(*event.local);
  steps_.clear();
  if (open_calls_.empty()) {
    open_row_ = calls_.size();
    ExplainedCall& call = new_call();
    call.is_move = true;
    call.op = OpScope::current() ? OpScope::current() : "reshard";
    call.layout = plan.dst;
    const char* reason = CallSite::current().reason;
    move.reason = reason ? reason : fmt::format("requested by {}", call.op);
  } else {
    open_row_ = open_calls_.back()->number();
    if (const ExplainedCall::Argument* input = open_calls_.back()->input_for(plan)) {
      move.tensor = input->name;
    } else {
      move.reason = "resharded to the placements of the tensor that is written to";
    }
  }
  open_move_ = std::move(move);
}

void Explainer::on_reshard_end(const ReshardEnd& move) noexcept {
  switch (move.phase) {
    case ReshardPhase::kStep: {
      const ReshardStep& step = move.plan.steps[move.step];
      steps_.push_back({std::string(name_of(step.kind)), mesh_dims_of(step), bytes_of(move)});
      break;
    }
    case ReshardPhase::kWhole:
      return end_whole(move);
    case ReshardPhase::kFinish:
      return end_finish(move);
  }
}

void Explainer::end_whole(const ReshardEnd& move) {
  ExplainedCall& call = *calls_[open_row_];
  open_move_->steps = std::exchange(steps_, {});
  open_move_->bytes = bytes_of(move);
  if (!call.is_move) call.kernel -= open_move_->bytes;
  call.moves.push_back(std::move(*open_move_));
  open_move_.reset();
  const bool arrives_later = move.plan.dst->mesh().contains(context_.rank()) &&
                             std::ranges::any_of(move.plan.steps, [](const ReshardStep& step) {
                               return step.kind == ReshardStep::Kind::kSendRecv;
                             });
  if (arrives_later) under_way_.push_back({&move.plan, open_row_, call.moves.size() - 1});
}

// Transfers of one plan finish in the order in which they started.
void Explainer::end_finish(const ReshardEnd& move) {
  const auto begun = std::ranges::find(under_way_, &move.plan, &UnderWay::plan);
  const auto steps = std::exchange(steps_, {});
  if (begun == under_way_.end()) return;  // started before the rank was observed
  const auto [plan, row, index] = *begun;
  under_way_.erase(begun);
  if (!calls_[row]) return;
  ExplainedMove& whole = calls_[row]->moves[index];
  whole.bytes += bytes_of(move);
  whole.steps.insert(whole.steps.end(), steps.begin(), steps.end());
  if (!calls_[row]->is_move) calls_[row]->kernel -= bytes_of(move);
}

}  // namespace phi
