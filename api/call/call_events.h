// Events of operator calls that a rank's observers receive (phi/core/observer.h). All references
// are valid during the notification; those of CallBegin until the call ends.
#pragma once

#include <vector>

#include "api/call/args/args.h"
#include "phi/core/attribute_value.h"
#include "phi/core/observers.h"
#include "phi/core/op_def.h"
#include "phi/core/step.h"

namespace phi {

class Decision;

/// The tensors of some arguments by slot. Each tensor, present or absent optional tensor, and
/// element of a list is one slot.
struct CallSlots {
  std::vector<const Tensor*> tensors;  // undefined where absent
  std::vector<int> begin;              // the first slot of each argument

  template <typename... Args>
  static CallSlots of(const Args&... args) {
    CallSlots slots;
    (slots.add(args), ...);
    return slots;
  }

 private:
  // Arg: Tensor, OptionalTensor or TensorList.
  template <typename Arg>
  void add(const Arg& arg);
};

struct CallBegin {
  const OpDef& op;
  const CallSlots& inputs;
};
struct CallDecision {
  const OpDef& op;
  const Decision& decision;  // valid until the call ends
};
struct CallOutputs {
  const OpDef& op;
  const std::vector<AttributeValue>& attributes;  // in the order of the op's
  const CallSlots& outputs;
};
struct CallEnd {
  const OpDef& op;
};
/// An array that a kernel of `op` has written. It may be read.
struct KernelOutput {
  const OpDef& op;
  const DenseTensor& array;
};

/// A kernel or a copy of a dry rank, and its estimated cost (StepCost).
struct PlannedLaunch {
  const char* op = "";  // lives as long as the operator
  StepCost cost{};
};

/// One call of the calling rank, which its observers receive from its begin to its end.
class ObservedCall {
 public:
  ObservedCall(const OpDef& op, CallSlots inputs);
  ~ObservedCall();
  ObservedCall(const ObservedCall&) = delete;
  ObservedCall& operator=(const ObservedCall&) = delete;

  void decided(const Decision& decision) const;
  void succeeded(const std::vector<AttributeValue>& attributes, const CallSlots& outputs) const;

 private:
  const OpDef& op_;
  const CallSlots inputs_;
  const Observers& observers_;
  const Observers::Audience audience_;
};

}  // namespace phi
