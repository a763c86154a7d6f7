// Call: one call of an operator, for the duration of its generated function. It adds the op's name
// to errors, adds the attributes to the decision's key, and reports the call to the rank's
// observers.
//
//   Call call(ops::matmul, attrs(transpose_x, transpose_y), x, y);
//   ... out is made
//   call.set_outputs(out);
#pragma once

#include <memory>
#include <tuple>

#include "api/call/args/args.h"
#include "api/call/args/attrs.h"
#include "api/call/call_events.h"
#include "api/call/decision.h"
#include "phi/common/errors.h"
#include "phi/core/rank_context.h"

namespace phi {

/// An op and the name by which it was called.
struct CalledOp {
  explicit(false) CalledOp(const OpDef& called) : CalledOp(called, called.name) {}
  CalledOp(const OpDef& called, const char* as) : op(called), name(as) {}
  const OpDef& op;
  const char* name;
};
/// An inplace call. `name` is the function's name, for example "relu_".
inline CalledOp as(const OpDef& op, const char* name) { return {op, name}; }

namespace detail {
template <typename... Args>
[[gnu::cold, gnu::noinline]] std::unique_ptr<ObservedCall> begin_observed(const OpDef& op,
                                                                          const Args&... args) {
  return std::make_unique<ObservedCall>(op, CallSlots::of(args...));
}
template <typename AttrList>
[[gnu::cold, gnu::noinline]] const Decision& infer_decision(const DistArgs& args,
                                                            const CallKey& key,
                                                            const AttrList& attributes,
                                                            DataType dtype) {
  return make_decision(args, key, {attributes.list(), attributes.wanted(), dtype});
}
template <typename AttrList, typename... Outs>
[[gnu::cold, gnu::noinline]] void report_outputs(const ObservedCall& call,
                                                 const AttrList& attributes, const Outs&... outs) {
  call.succeeded(attributes.list().values(), CallSlots::of(outs...));
}
}  // namespace detail

/// Args: Tensor, std::optional<Tensor> or std::vector<Tensor>. Stores references to the caller's
/// arguments, which must outlive it.
template <typename AttrList, typename... Args>
class Call {
 public:
  Call(const CalledOp& called, const AttrList& attributes, const Args&... args)
      : scope_(called.name), op_(called.op), attributes_(attributes), args_(args...) {
    if (RankContext::current().observers().any_events()) [[unlikely]]
      observed_ = detail::begin_observed(op_, args...);
  }
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  /// Whether all tensors are plain.
  bool is_dense() const {
    return std::apply([](const Args&... args) { return !any_distributed(args...); }, args_);
  }
  /// Returns the arguments of a distributed call; plain tensors count as replicated on the op's
  /// mesh.
  DistArgs on_one_mesh() const {
    return std::apply([this](const Args&... args) { return DistArgs(op_, args...); }, args_);
  }
  /// Returns the decision, from the cache or by the op's shape function and rule. It is valid for
  /// this call. `dtype`: that of the kernel to launch; UNDEFINED: no kernel will be launched.
  const Decision& decide(const DistArgs& args, DataType dtype = DataType::UNDEFINED) const {
    CallKey key;
    attributes_.append_to(key, op_);
    const Decision* found = find_decision(args, key);
    const Decision& decision =
        found ? *found : detail::infer_decision(args, key, attributes_, dtype);
    if (!decision.computes_here()) detail::count_clipped(op_);
    if (observed_) [[unlikely]]
      observed_->decided(decision);
    return decision;
  }
  /// Whether observers receive this call.
  bool is_observed() const { return observed_ != nullptr; }
  /// Reports all results of the call to its observers. Called once, at the end.
  template <typename... Outs>
  void set_outputs(const Outs&... outs) const {
    if (observed_) [[unlikely]]
      detail::report_outputs(*observed_, attributes_, outs...);
  }

 private:
  OpScope scope_;
  const OpDef& op_;
  AttrList attributes_;
  std::tuple<const Args&...> args_;
  std::unique_ptr<ObservedCall> observed_;  // null without observers, which costs a comparison
};

}  // namespace phi
