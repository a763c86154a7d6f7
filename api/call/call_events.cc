// Collects the slots of a call's arguments, and notifies observers of a call.
#include "api/call/call_events.h"

#include <utility>

#include "phi/core/rank_context.h"

namespace phi {

template <typename Arg>
void CallSlots::add(const Arg& arg) {
  begin.push_back(static_cast<int>(tensors.size()));
  for_each_slot(arg, [this](const Tensor& x) { tensors.push_back(&x); });
}

template void CallSlots::add(const Tensor&);
template void CallSlots::add(const OptionalTensor&);
template void CallSlots::add(const TensorList&);

ObservedCall::ObservedCall(const OpDef& op, CallSlots inputs)
    : op_(op),
      inputs_(std::move(inputs)),
      observers_(RankContext::current().observers()),
      audience_(observers_.begin(&Observer::on_call_begin, CallBegin{op, inputs_},
                                 &Observer::on_call_end, CallEnd{op})) {}

ObservedCall::~ObservedCall() { observers_.end(audience_, &Observer::on_call_end, CallEnd{op_}); }

void ObservedCall::decided(const Decision& decision) const {
  observers_.notify(audience_, &Observer::on_decision, CallDecision{op_, decision});
}

void ObservedCall::succeeded(const std::vector<AttributeValue>& attributes,
                             const CallSlots& outputs) const {
  observers_.notify(audience_, &Observer::on_call_outputs, CallOutputs{op_, attributes, outputs});
}

}  // namespace phi
