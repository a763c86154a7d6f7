// Records what a dry rank does in a step, as the simulator reads it.
//
//   distributed::RecordingWorld world(/*rank=*/77, /*size=*/16384);
//   const distributed::World::Scope scope(world);
//   const auto program = record_step(world, step);
#pragma once

#include <cstdint>
#include <functional>
#include <vector>

#include "distributed/comm/recording/recording_world.h"
#include "distributed/simulator/rank_program.h"

namespace phi::simulation {

/// Runs `step` and returns its launches, calls and waits. `world` must be the current one. Kernels
/// that send messages are a launch, followed by their calls.
distributed::simulator::RankProgram record_step(distributed::RecordingWorld& world,
                                                const std::function<void()>& step);

/// The program of a rank that recorded these events.
distributed::simulator::RankProgram program_of(
    const std::vector<distributed::RecordedEvent>& events, int64_t rank);

}  // namespace phi::simulation
