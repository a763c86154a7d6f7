// Runs a copy, or captures it as a step.
#include "api/call/args/copy_into.h"

#include <memory>
#include <utility>

#include "api/call/call_events.h"
#include "phi/core/copy_step.h"
#include "phi/core/rank_context.h"
#include "phi/core/recorder.h"

namespace phi {

void copy_into(const DenseTensor& to, const DenseTensor& from) {
  const RankContext& rank = RankContext::current();
  CopyStep copy(from, to);
  if (Recorder* recorder = rank.recorder()) {
    recorder->add(std::make_unique<CopyStep>(std::move(copy)));
  } else if (!rank.is_dry()) {
    copy.run();
  } else if (rank.observers().any_events()) {
    rank.observers().notify(&Observer::on_planned_launch, PlannedLaunch{copy.name(), copy.cost()});
  }
}

}  // namespace phi
