// From a call's tensors and attributes to an operation of the program.
#include "api/capture/captured_call.h"

#include <algorithm>

#include "api/call/decision.h"
#include "api/capture/recording.h"

namespace phi {
namespace {

ir::AttributeValue number(const Scalar& value) {
  if (value.dtype() == DataType::BOOL) return value.to<bool>();
  if (is_floating(value.dtype())) return value.to<double>();
  return value.to<int64_t>();
}

}  // namespace

NamedAttribute::NamedAttribute(const char* name, const Scalar& value)
    : Attribute{name, number(value)} {}
NamedAttribute::NamedAttribute(const char* name, const IntArray& value)
    : Attribute{name, std::vector<int64_t>(value.values().begin(), value.values().end())} {}
NamedAttribute::NamedAttribute(const char* name, const std::vector<int>& value)
    : Attribute{name, std::vector<int64_t>(value.begin(), value.end())} {}
NamedAttribute::NamedAttribute(const char* name, const std::vector<bool>& value)
    : Attribute{name, std::vector<int64_t>(value.begin(), value.end())} {}
NamedAttribute::NamedAttribute(const char* name, const std::vector<float>& value)
    : Attribute{name, std::vector<double>(value.begin(), value.end())} {}

struct CapturedCall::State {
  State(ir::Recording& to, const OpDef& op) : recording(to), outermost(to.enter_call() == 0) {
    operation.op = &op;
  }
  ~State() { recording.leave_call(); }
  State(const State&) = delete;
  State& operator=(const State&) = delete;

  void begin_argument() {
    operation.input_begin.push_back(static_cast<int>(operation.inputs.size()));
  }
  void add_slot(const Tensor& x) {
    operation.inputs.push_back(recording.value_of(x));
    handles.push_back(x.identity());
  }
  // The input that is the same tensor: an inplace operator wrote to it.
  int input_of(const Tensor& out) const {
    const auto same = std::find(handles.begin(), handles.end(), out.identity());
    return out.defined() && same != handles.end() ? static_cast<int>(same - handles.begin()) : -1;
  }

  ir::Recording& recording;
  const bool outermost;
  ir::Operation operation;
  std::vector<const void*> handles;  // of the inputs, by slot
};

void CapturedCall::begin(const OpDef& op) {
  if (auto* recording = ir::Recording::current()) state_ = new State(*recording, op);
  if (state_ && state_->outermost) state_->recording.forget_decision();
}

void CapturedCall::add(const Tensor& x) {
  if (!*this) return;
  state_->begin_argument();
  state_->add_slot(x);
}

void CapturedCall::add(const OptionalTensor& x) { add(x ? *x : Tensor()); }

void CapturedCall::add(const TensorList& xs) {
  if (!*this) return;
  state_->begin_argument();
  for (const Tensor& x : xs) state_->add_slot(x);
}

void CapturedCall::add_output(const Tensor& x) const {
  ir::Operation& operation = state_->operation;
  operation.inplace.push_back(state_->input_of(x));
  operation.outputs.push_back(x.defined() ? state_->recording.new_value(x) : ir::kAbsent);
  if (x.defined()) state_->recording.define(x, operation.outputs.back());
}

void CapturedCall::add_output(const OptionalTensor& x) const { add_output(x ? *x : Tensor()); }

void CapturedCall::add_output(const TensorList& xs) const {
  for (const Tensor& x : xs) add_output(x);
}

void CapturedCall::finish(NamedAttributes attributes) const {
  ir::Operation& operation = state_->operation;
  state_->begin_argument();  // the end of the last
  operation.attributes = std::move(attributes);
  operation.taken.assign(operation.inputs.size(), nullptr);
  if (const Decision* decision = state_->recording.decision()) {
    operation.clipped = !decision->computes_here();
    for (size_t slot = 0; slot < decision->num_inputs(); ++slot) {
      operation.taken[slot] = decision->input(slot).attr;
    }
  }
  state_->recording.add_operation(std::move(operation));
}

bool CapturedCall::is_outermost() const { return state_->outermost; }

void CapturedCall::leave() { delete state_; }

void note_used(const Tensor& x) {
  if (ir::Recording* recording = ir::Recording::current()) recording->value_of(x);
}

namespace detail {
void note_decision(const Decision& decision) {
  if (ir::Recording* recording = ir::Recording::current()) recording->set_decision(decision);
}
}  // namespace detail

}  // namespace phi
