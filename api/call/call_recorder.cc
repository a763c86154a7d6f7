// Collects the slots of a call's arguments.
#include "api/call/call_recorder.h"

namespace phi {

template <typename Arg>
void CallSlots::add(const Arg& arg) {
  begin.push_back(static_cast<int>(tensors.size()));
  for_each_slot(arg, [this](const Tensor& x) { tensors.push_back(&x); });
}

template void CallSlots::add(const Tensor&);
template void CallSlots::add(const OptionalTensor&);
template void CallSlots::add(const TensorList&);

}  // namespace phi
