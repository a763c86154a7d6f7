// Explainer: observes the calls and reshards of one rank and turns them into an Explanation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call/call_recorder.h"
#include "api/explain/explain.h"
#include "api/explain/explanation.h"
#include "api/explain/observer_scope.h"
#include "api/explain/reasons.h"
#include "distributed/reshard/reshard_observer.h"
#include "phi/core/trace/trace.h"

namespace phi {

class Explainer final : public CallRecorder, public ReshardObserver {
 public:
  /// Observes the calling rank during its lifetime.
  /// Errors: PreconditionNotMet if the rank has an observer already.
  explicit Explainer(const TensorNames& names);
  Explainer(const Explainer&) = delete;
  Explainer& operator=(const Explainer&) = delete;

  Explanation take();

  std::unique_ptr<RecordedCall> begin(const OpDef& op, const CallSlots& inputs) override;
  void used(const Tensor&) override {}
  void alias(const Tensor&, const Tensor&) override {}
  void on_begin(const distributed::ReshardPlan& plan, const DenseTensor& local) override;
  void on_end(const Span& move) override;

 private:
  class CallObserver;
  // A reshard whose transfer to another mesh has not finished.
  struct UnderWay {
    const distributed::ReshardPlan* plan;
    size_t row;
    size_t move;
  };

  ExplainedCall& new_call();
  void end_whole(const Span& move);
  void end_finish(const Span& move);
  void place(ExplainedCall* call);
  void follow_actions();
  Reasons reasons_for(const DistributedCall& call);

  RankContext& context_;
  const ObserverScope observers_;
  const NamesByStorage names_;
  size_t seen_events_ = 0;
  std::vector<const TraceEvent*> actions_;  // open actions, each nested in the previous one
  Explanation explanation_;
  std::vector<std::unique_ptr<ExplainedCall>> calls_;
  std::vector<CallObserver*> open_calls_;
  std::optional<ExplainedMove> open_move_;
  size_t open_row_ = 0;  // index of its row
  std::vector<UnderWay> under_way_;
  std::vector<ExplainedMove::MoveStep> steps_;  // of the reshard in progress
  std::unordered_map<std::string, Reasons> known_reasons_;
};

}  // namespace phi
