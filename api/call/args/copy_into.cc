// Runs a copy, or captures it as a step.
#include "api/call/args/copy_into.h"

#include <memory>
#include <utility>

#include "distributed/comm/recording/recording_world.h"
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
  } else if (distributed::RecordingWorld* world = distributed::RecordingWorld::current()) {
    world->add({copy.name(), from.dtype(), 0, copy.cost().bytes});
  }
}

}  // namespace phi
