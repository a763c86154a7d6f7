// The slots of a call's arguments.
#include "api/call/call_recorder.h"

namespace phi {

namespace {
template <typename Arg>
void add_slots(CallSlots& slots, const Arg& arg) {
  slots.begin.push_back(static_cast<int>(slots.tensors.size()));
  for_each_slot(arg, [&](const Tensor& x) { slots.tensors.push_back(&x); });
}
}  // namespace

void CallSlots::add(const Tensor& arg) { add_slots(*this, arg); }
void CallSlots::add(const OptionalTensor& arg) { add_slots(*this, arg); }
void CallSlots::add(const TensorList& arg) { add_slots(*this, arg); }

}  // namespace phi
