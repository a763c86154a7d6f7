// Measures the messages of a world: links, collectives, and what messages and computation cost each
// other.
#pragma once

#include "api/simulation/calibration/calibrate.h"

namespace phi::simulation {

/// Sets the links of the result's machine, its points of collectives of all ranks, reduce_GBps,
/// receiving_rate and computing_rate. All ranks of the world, two or more, call it and get the same
/// numbers. Links are measured between ranks 0 and 1. `quick`: small sizes and few repetitions.
void measure_messages(bool quick, Calibration* result);

}  // namespace phi::simulation
