// Registers observers with a rank.
#include "api/explain/observer_scope.h"

#include <fmt/format.h>

#include "api/call/call_site.h"
#include "api/explain/explanation_text.h"
#include "phi/common/errors.h"

namespace phi {

ObserverScope::ObserverScope(CallRecorder* calls, ReshardObserver* moves, size_t limit)
    : context_(RankContext::current()) {
  PHI_CHECK(!context_.calls() && !context_.reshard_observer(),
            errors::PreconditionNotMet("rank {} is already being explained or captured; explain "
                                       "the entire function or a section of it, without nesting.",
                                       context_.rank()));
  if (!context_.trace()) {
    own_trace_ = std::make_unique<Trace>(limit);
    context_.trace_to(own_trace_.get());
  }
  context_.observe_calls(calls);
  context_.set_reshard_observer(moves);
}

ObserverScope::~ObserverScope() {
  context_.observe_calls(nullptr);
  context_.set_reshard_observer(nullptr);
  if (own_trace_) context_.trace_to(nullptr);
}

SuspendObservers::SuspendObservers()
    : context_(RankContext::current()),
      calls_(context_.calls()),
      reshards_(context_.reshard_observer()),
      counters_(context_.counters()) {
  context_.observe_calls(nullptr);
  context_.set_reshard_observer(nullptr);
}

SuspendObservers::~SuspendObservers() {
  context_.observe_calls(calls_);
  context_.set_reshard_observer(reshards_);
  context_.counters() = counters_;
}

NamesByStorage::NamesByStorage(const TensorNames& names) {
  for (const auto& [name, tensor] : names) {
    if (tensor.defined()) names_[array_of(tensor).storage()->id()] = name;
  }
}

std::string NamesByStorage::of(const DenseTensor& array) const {
  if (names_.empty() || !array.storage()) return "";
  const auto found = names_.find(array.storage()->id());
  return found == names_.end() ? "" : found->second;
}

size_t end_of(const CallSlots& slots, size_t arg) {
  return arg + 1 < slots.begin.size() ? static_cast<size_t>(slots.begin[arg + 1])
                                      : slots.tensors.size();
}

size_t argument_of(const CallSlots& slots, size_t slot) {
  size_t arg = 0;
  while (end_of(slots, arg) <= slot) ++arg;
  return arg;
}

std::string name_of_slot(const OpDef& op, const CallSlots& slots, size_t slot) {
  const size_t arg = argument_of(slots, slot);
  const std::string name = arg < op.inputs.size() ? op.inputs[arg] : "input";
  const auto first = static_cast<size_t>(slots.begin[arg]);
  return end_of(slots, arg) - first == 1 ? name : fmt::format("{}[{}]", name, slot - first);
}

std::string current_place() {
  ExplainedCall call;
  const CallSite& site = CallSite::current();
  if (site.module) call.module = site.module;
  if (site.file) call.file = site.file;
  call.line = site.line;
  std::string out = call.where();
  const Trace* trace = RankContext::current().trace();
  if (!trace) return out;
  const auto add = [&](const char* what, int32_t number) {
    if (number >= 0) out += fmt::format("{}{} {}", out.empty() ? "" : ", ", what, number);
  };
  add("step", trace->work().step);
  add("micro-batch", trace->work().micro_batch);
  add("chunk", trace->work().chunk);
  return out;
}

}  // namespace phi
