// Data dependencies between neighbouring virtual stages.
#include "distributed/pipeline/schedules/data_flow.h"

namespace phi::distributed::pipeline {

std::optional<size_t> DataFlow::consumed_by(int stage, const Action& action) const {
  const int here = schedule_.virtual_stage(stage, action.chunk);
  switch (action.kind) {
    case ActionKind::kForward:
      if (here == 0) return std::nullopt;
      return piece(true, here - 1, action.micro_batch);
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
      if (here == schedule_.virtual_stages() - 1) return std::nullopt;
      return piece(false, here + 1, action.micro_batch);
    case ActionKind::kBackwardWeight:
      return std::nullopt;
  }
  return std::nullopt;
}

std::optional<size_t> DataFlow::produced_by(int stage, const Action& action) const {
  const int here = schedule_.virtual_stage(stage, action.chunk);
  switch (action.kind) {
    case ActionKind::kForward:
      if (here == schedule_.virtual_stages() - 1) return std::nullopt;
      return piece(true, here, action.micro_batch);
    case ActionKind::kBackward:
    case ActionKind::kBackwardInput:
      if (here == 0) return std::nullopt;
      return piece(false, here, action.micro_batch);
    case ActionKind::kBackwardWeight:
      return std::nullopt;
  }
  return std::nullopt;
}

int DataFlow::consumer(int stage, const Action& action) const {
  const int step = action.kind == ActionKind::kForward ? 1 : schedule_.stages - 1;
  return (stage + step) % schedule_.stages;
}

}  // namespace phi::distributed::pipeline
