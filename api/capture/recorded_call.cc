// Converts a call's tensors and attributes to an operation of the program.
#include <algorithm>
#include <utility>

#include "api/call/decision.h"
#include "api/capture/recording.h"

namespace phi::ir {

void Recording::on_call_begin(const CallBegin& event) {
  if (calls_ == 0) {
    Operation operation;
    std::vector<const void*> handles;
    operation.op = &event.op;
    operation.input_begin = event.inputs.begin;
    operation.input_begin.push_back(static_cast<int>(event.inputs.tensors.size()));
    for (const Tensor* x : event.inputs.tensors) {
      operation.inputs.push_back(value_of(*x));
      handles.push_back(x->identity());
    }
    operation_ = std::move(operation);
    input_handles_ = std::move(handles);
  }
  ++calls_;
}

void Recording::on_decision(const CallDecision& event) {
  if (calls_ > 1) return;
  operation_.clipped = !event.decision.computes_here();
  for (size_t slot = 0; slot < event.decision.num_inputs(); ++slot) {
    operation_.taken.push_back(event.decision.input(slot).attr);
  }
}

void Recording::on_call_outputs(const CallOutputs& event) {
  if (calls_ > 1) return;
  for (size_t i = 0; i < event.attributes.size(); ++i) {
    const AttributeDef& attribute = event.op.attributes[i];
    if (attribute.kind == AttributeKind::kPlace) continue;
    operation_.attributes.push_back({attribute.name, event.attributes[i]});
  }
  operation_.taken.resize(operation_.inputs.size(), nullptr);
  for (const Tensor* x : event.outputs.tensors) add_output(*x);
  add_operation(std::move(operation_));
}

void Recording::on_call_end(const CallEnd&) noexcept { --calls_; }

void Recording::add_output(const Tensor& x) {
  operation_.inplace.push_back(input_of(x));
  operation_.outputs.push_back(x.defined() ? new_value(x) : kAbsent);
  if (x.defined()) define(x, operation_.outputs.back());
}

int Recording::input_of(const Tensor& out) const {
  const auto same = std::ranges::find(input_handles_, out.identity());
  return out.defined() && same != input_handles_.end()
             ? static_cast<int>(same - input_handles_.begin())
             : -1;
}

void Recording::used(const Tensor& x) { value_of(x); }

void Recording::alias(const Tensor& from, const Tensor& to) { define(to, value_of(from)); }

}  // namespace phi::ir
