// CallRecorder: the interface that receives a rank's operator calls on handles. Program capture
// (api/capture) and explanations of running programs (api/explain) implement it.
#pragma once

#include <memory>
#include <vector>

#include "api/call/args/args.h"
#include "phi/core/attribute_value.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"

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

/// The record of one call, from its arguments to its outputs. Calls that occur while it exists are
/// part of it.
class RecordedCall {
 public:
  virtual ~RecordedCall() = default;
  /// False for a call within another call. Such a call receives no outputs.
  virtual bool is_outermost() const = 0;
  /// Receives the call's decision.
  virtual void set_decision(const Decision& decision) = 0;
  /// Receives the outputs, at the end of the call. `attributes`: in the order of the op's.
  virtual void set_outputs(const std::vector<AttributeValue>& attributes,
                           const CallSlots& outputs) = 0;
};

class CallRecorder {
 public:
  virtual ~CallRecorder() = default;
  /// Called when a call of `op` begins, before it changes its inputs.
  virtual std::unique_ptr<RecordedCall> begin(const OpDef& op, const CallSlots& inputs) = 0;
  /// Reports that the program uses x. Needed for moves, which are reported without handles: a
  /// parameter is identified by the handle of its first use.
  virtual void used(const Tensor& x) = 0;
  /// Reports that `to` has the value of `from` although it does not share its bytes.
  virtual void alias(const Tensor& from, const Tensor& to) = 0;

  /// The calling rank's recorder; null if its calls are not observed.
  static CallRecorder* current() { return RankContext::current().calls(); }
};

}  // namespace phi
