// Records a training step by its parts: the forward and the backward of each pipeline chunk, and
// the rest.
//
//   RecordingWorld world(/*rank=*/0, /*size=*/8);
//   const World::Scope scope(world);
//   for (const RecordedPart& part : record_parts(world, step)) ...
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "distributed/comm/recording/recording_world.h"
#include "distributed/simulator/rank_program.h"

namespace phi::simulation {

/// kUpdate: everything outside the passes of chunks, such as the optimizer.
enum class StepPart : uint8_t { kForward, kBackward, kBackwardWeight, kUpdate };

struct RecordedPart {
  StepPart part = StepPart::kUpdate;
  int chunk = -1;  // in the order of the model; -1: of kUpdate
  /// What the rank does in this part for all micro-batches. Waits for calls that another part has
  /// started are left out.
  distributed::simulator::RankProgram program;
  int64_t output_bytes = 0;  // this rank's part of the first output of the part's last operator
  int64_t begin_bytes = 0;   // planned bytes of the rank when the part begins
  int64_t held_bytes = 0;    // planned bytes of the rank at the part's last launch
  int64_t peak_bytes = 0;    // most planned bytes at a launch
};

/// Runs `step` in the dry world of the calling rank. Parts are in the order in which they begin.
std::vector<RecordedPart> record_parts(distributed::RecordingWorld& world,
                                       const std::function<void()>& step);

}  // namespace phi::simulation
