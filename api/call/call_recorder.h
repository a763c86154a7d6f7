// CallRecorder: what a rank tells of its calls on handles, to whom asks for it: a program that is
// being captured (api/capture), or an explanation of what really runs (api/explain).
#pragma once

#include <memory>
#include <vector>

#include "api/call/args/args.h"
#include "phi/core/attribute_value.h"
#include "phi/core/op_def.h"
#include "phi/core/rank_context.h"

namespace phi {

class Decision;

/// The tensors of some arguments by slot: every tensor counts one, an absent optional one too, each
/// element of a list one.
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

/// One call, from its arguments to what it gives. Calls within it belong to it while it lives.
class RecordedCall {
 public:
  virtual ~RecordedCall() = default;
  /// False for a call within a call, which is told of nothing.
  virtual bool is_outermost() const = 0;
  virtual void decided(const Decision& decision) = 0;
  /// `attributes` in the order of the op's.
  virtual void gives(const std::vector<AttributeValue>& attributes, const CallSlots& outputs) = 0;
};

class CallRecorder {
 public:
  virtual ~CallRecorder() = default;
  /// A call of `op` begins; inputs are as they are before it.
  virtual std::unique_ptr<RecordedCall> begin(const OpDef& op, const CallSlots& inputs) = 0;
  /// x is used by the program. For moves, which are told of without their handles: a parameter is
  /// looked up by the handle by which it was first used.
  virtual void used(const Tensor& x) = 0;
  /// `to` has the value of `from` though it shows no bytes of it.
  virtual void alias(const Tensor& from, const Tensor& to) = 0;

  /// Of the calling rank; null, the usual case, unless somebody asked to be told.
  static CallRecorder* current() { return RankContext::current().calls(); }
};

}  // namespace phi
