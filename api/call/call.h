// Call: one call of an operator, from its first line to its last. It names the op in errors, keys
// the decision by the attributes, and tells who asked for it (CallRecorder) of the call.
//
//   Call call(ops::matmul, attrs(transpose_x, transpose_y), x, y);
//   ... out is made
//   call.gives(out);
#pragma once

#include <memory>
#include <tuple>

#include "api/call/args/args.h"
#include "api/call/args/attrs.h"
#include "api/call/call_recorder.h"
#include "api/call/decision.h"
#include "phi/common/errors.h"

namespace phi {

/// An op under the name by which it was called.
struct CalledOp {
  explicit(false) CalledOp(const OpDef& called) : CalledOp(called, called.name) {}
  CalledOp(const OpDef& called, const char* as) : op(called), name(as) {}
  const OpDef& op;
  const char* name;
};
/// An inplace call: `name` is the function's, "relu_".
inline CalledOp as(const OpDef& op, const char* name) { return {op, name}; }

namespace detail {
template <typename... Args>
[[gnu::cold, gnu::noinline]] std::unique_ptr<RecordedCall> begin_recorded(CallRecorder& recorder,
                                                                          const OpDef& op,
                                                                          const Args&... args) {
  return recorder.begin(op, CallSlots::of(args...));
}
template <typename AttrList>
[[gnu::cold, gnu::noinline]] const Decision& ask(const DistArgs& args, const CallKey& key,
                                                 const AttrList& attributes, DataType dtype) {
  return make_decision(args, key, {attributes.list(), attributes.wanted(), dtype});
}
template <typename AttrList, typename... Outs>
[[gnu::cold, gnu::noinline]] void end_recorded(RecordedCall& call, const AttrList& attributes,
                                               const Outs&... outs) {
  if (call.is_outermost()) call.gives(attributes.list().values(), CallSlots::of(outs...));
}
}  // namespace detail

/// Args: Tensor, std::optional<Tensor> or std::vector<Tensor>; it refers to the caller's.
template <typename AttrList, typename... Args>
class Call {
 public:
  Call(const CalledOp& called, const AttrList& attributes, const Args&... args)
      : scope_(called.name), op_(called.op), attributes_(attributes), args_(args...) {
    if (CallRecorder* recorder = CallRecorder::current()) [[unlikely]]
      recorded_ = detail::begin_recorded(*recorder, op_, args...);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// All tensors are plain.
  bool is_dense() const {
    return std::apply([](const Args&... args) { return !any_distributed(args...); }, args_);
  }
  /// The arguments of a distributed call; plain tensors become replicated on the op's mesh.
  DistArgs on_one_mesh() const {
    return std::apply([this](const Args&... args) { return DistArgs(op_, args...); }, args_);
  }
  /// From the cache, or the op's rule and shape function asked; valid as long as the call. `dtype`:
  /// of the kernel that will be launched; UNDEFINED: none will.
  const Decision& decide(const DistArgs& args, DataType dtype = DataType::UNDEFINED) const {
    CallKey key;
    attributes_.append_to(key, op_);
    const Decision* found = find_decision(args, key);
    const Decision& decision = found ? *found : detail::ask(args, key, attributes_, dtype);
    if (!decision.computes_here()) detail::count_clipped(op_);
    if (recorded_) [[unlikely]]
      recorded_->decided(decision);
    return decision;
  }
  /// A program that is being captured is told of this call, not of one around it.
  bool is_recorded() const { return recorded_ && recorded_->is_outermost(); }
  /// The call's results, all of them; said once, at the end.
  template <typename... Outs>
  void gives(const Outs&... outs) const {
    if (recorded_) [[unlikely]]
      detail::end_recorded(*recorded_, attributes_, outs...);
  }

 private:
  OpScope scope_;
  const OpDef& op_;
  AttrList attributes_;
  std::tuple<const Args&...> args_;
  std::unique_ptr<RecordedCall> recorded_;  // null, the usual case, costs a comparison
};

}  // namespace phi
