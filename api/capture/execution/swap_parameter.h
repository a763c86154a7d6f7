// Swaps parameters and constants of a captured program out, into the engine that runs its plan.
#pragma once

#include <memory>

#include "api/capture/execution/program_state.h"
#include "phi/memory/engine/swap_engine.h"

namespace phi {

/// Moves the value of a planned parameter or constant to the engine, if it has changed since the
/// engine received it, and swaps its storage out. The storage then reads its value from the engine.
/// Called between runs.
void swap_parameter(const BufferState& buffer, ExternalState& external,
                    const std::shared_ptr<memory::SwapEngine>& engine);

}  // namespace phi
