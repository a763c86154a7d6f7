// Explainer: observes the calls and reshards of one rank and turns them into an Explanation.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "api/call/call_events.h"
#include "api/explain/call_names.h"
#include "api/explain/explain.h"
#include "api/explain/explanation.h"
#include "api/explain/reasons.h"
#include "distributed/reshard/reshard_events.h"
#include "phi/core/observer_scope.h"

namespace phi {

class Explainer final : public Observer {
 public:
  /// Observes the calling rank during its lifetime.
  explicit Explainer(const TensorNames& names);
  ~Explainer() override;
  Explainer(const Explainer&) = delete;
  Explainer& operator=(const Explainer&) = delete;

  Explanation take();

  void on_call_begin(const CallBegin& event) override;
  void on_decision(const CallDecision& event) override;
  void on_call_outputs(const CallOutputs& event) override;
  void on_call_end(const CallEnd& event) noexcept override;
  void on_reshard_begin(const distributed::ReshardBegin& event) override;
  void on_reshard_end(const distributed::ReshardEnd& event) noexcept override;

 private:
  class OpenCall;
  // A reshard whose transfer to another mesh has not finished.
  struct UnderWay {
    const distributed::ReshardPlan* plan;
    size_t row;
    size_t move;
  };

  ExplainedCall& new_call();
  void end_whole(const distributed::ReshardEnd& move);
  void end_finish(const distributed::ReshardEnd& move);
  void place(ExplainedCall* call) const;
  Reasons reasons_for(const DistributedCall& call);

  RankContext& context_;
  const NamesByStorage names_;
  Explanation explanation_;
  std::vector<std::unique_ptr<ExplainedCall>> calls_;
  std::vector<std::unique_ptr<OpenCall>> open_calls_;  // each nested in the previous one
  std::optional<ExplainedMove> open_move_;
  size_t open_row_ = 0;  // index of its row
  std::vector<UnderWay> under_way_;
  std::vector<ExplainedMove::MoveStep> steps_;  // of the reshard in progress
  std::unordered_map<std::string, Reasons> known_reasons_;
  const ObserverScope scope_;
};

}  // namespace phi
