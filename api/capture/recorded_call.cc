// Converts a call's tensors and attributes to an operation of the program.
#include <algorithm>

#include "api/call/decision.h"
#include "api/capture/recording.h"

namespace phi::ir {

class Recording::OperationBuilder final : public RecordedCall {
 public:
  OperationBuilder(Recording& recording, const OpDef& op, const CallSlots& inputs)
      : recording_(recording), outermost_(recording.calls_++ == 0) {
    if (!outermost_) return;
    operation_.op = &op;
    operation_.input_begin = inputs.begin;
    operation_.input_begin.push_back(static_cast<int>(inputs.tensors.size()));
    for (const Tensor* x : inputs.tensors) {
      operation_.inputs.push_back(recording.value_of(*x));
      handles_.push_back(x->identity());
    }
  }
  ~OperationBuilder() override { --recording_.calls_; }
  OperationBuilder(const OperationBuilder&) = delete;
  OperationBuilder& operator=(const OperationBuilder&) = delete;

  bool is_outermost() const override { return outermost_; }

  void set_decision(const Decision& decision) override {
    if (!outermost_) return;
    operation_.clipped = !decision.computes_here();
    for (size_t slot = 0; slot < decision.num_inputs(); ++slot) {
      operation_.taken.push_back(decision.input(slot).attr);
    }
  }

  void set_outputs(const std::vector<AttributeValue>& attributes,
                   const CallSlots& outputs) override {
    for (size_t i = 0; i < attributes.size(); ++i) {
      const AttributeDef& attribute = operation_.op->attributes[i];
      if (attribute.kind == AttributeKind::kPlace) continue;
      operation_.attributes.push_back({attribute.name, attributes[i]});
    }
    operation_.taken.resize(operation_.inputs.size(), nullptr);
    for (const Tensor* x : outputs.tensors) add_output(*x);
    recording_.add_operation(std::move(operation_));
  }

 private:
  void add_output(const Tensor& x) {
    operation_.inplace.push_back(input_of(x));
    operation_.outputs.push_back(x.defined() ? recording_.new_value(x) : kAbsent);
    if (x.defined()) recording_.define(x, operation_.outputs.back());
  }
  // The slot of the input that is the same tensor, which an inplace operator wrote to; -1: none.
  int input_of(const Tensor& out) const {
    const auto same = std::find(handles_.begin(), handles_.end(), out.identity());
    return out.defined() && same != handles_.end() ? static_cast<int>(same - handles_.begin()) : -1;
  }

  Recording& recording_;
  const bool outermost_;
  Operation operation_;
  std::vector<const void*> handles_;  // of the inputs, by slot
};

std::unique_ptr<RecordedCall> Recording::begin(const OpDef& op, const CallSlots& inputs) {
  return std::make_unique<OperationBuilder>(*this, op, inputs);
}

void Recording::used(const Tensor& x) { value_of(x); }

void Recording::alias(const Tensor& from, const Tensor& to) { define(to, value_of(from)); }

}  // namespace phi::ir
