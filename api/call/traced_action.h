// TracedAction: a part of a training step: forward or backward of a micro-batch, recomputation, the
// optimizer. It is the rank's action for its lifetime, and a span of its traces.
//
//   TracedAction traced("recompute");
//   const Tensor y = f(x);
//   traced.made(y);          // an action of other ranks, if y is not on this one
#pragma once

#include "api/tensor/tensor.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"

namespace phi {

class TracedAction {
 public:
  /// `what`: a detail of the span. Both strings must outlive the traces.
  explicit TracedAction(const char* name, const char* what = nullptr)
      : TracedAction(RankContext::current(), name, what) {}
  /// A span named by letter and micro-batch, for example "F3".
  TracedAction(char letter, int64_t micro_batch, const char* what) : TracedAction("", what) {
    if (span_.is_open()) number(letter, micro_batch);
  }
  ~TracedAction() { rank_.set_action(outer_); }
  TracedAction(const TracedAction&) = delete;
  TracedAction& operator=(const TracedAction&) = delete;

  /// Reports that the action's result has the distributed attribute `attr` (null: a plain tensor).
  /// If this rank is outside its mesh, the action belongs to other ranks.
  void made(const distributed::TensorDistAttr* attr) {
    if (span_.is_open() && attr) made_on(attr->mesh());
  }
  void made(const Tensor& x) { made(x.is_dist() ? x.dist_attr() : nullptr); }

 private:
  TracedAction(RankContext& rank, const char* name, const char* what)
      : rank_(rank), outer_(rank.action()), span_(rank, TraceKind::kAction, name) {
    rank.set_action(what ? what : name);
    if (what) span_.fill([&](Trace&, TraceEvent& event) { event.detail = what; });
  }
  void number(char letter, int64_t micro_batch);
  void made_on(const distributed::ProcessMesh& mesh);

  RankContext& rank_;
  const char* const outer_;
  TraceScope span_;
};

}  // namespace phi
