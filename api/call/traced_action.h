// TracedAction: a span of the trace for a part of a training step: forward or backward of a
// micro-batch, recomputation, the optimizer. It does nothing if the rank keeps no trace.
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
  /// `what`: a detail of the span. Both strings must outlive the trace.
  explicit TracedAction(const char* name, const char* what = nullptr)
      : span_(RankContext::current().trace(), TraceKind::kAction, name) {
    if (span_.event()) span_.event()->detail = what;
  }
  /// A span named by letter and micro-batch, for example "F3".
  TracedAction(char letter, int64_t micro_batch, const char* what) : TracedAction("", what) {
    if (span_.event()) number(letter, micro_batch);
  }

  /// Reports that the action's result has the distributed attribute `attr` (null: a plain tensor).
  /// If this rank is outside its mesh, the action belongs to other ranks.
  void made(const distributed::TensorDistAttr* attr) {
    if (span_.event() && attr) made_on(attr->mesh());
  }
  void made(const Tensor& x) { made(x.is_dist() ? x.dist_attr() : nullptr); }

 private:
  void number(char letter, int64_t micro_batch);
  void made_on(const distributed::ProcessMesh& mesh);

  TraceScope span_;
};

}  // namespace phi
