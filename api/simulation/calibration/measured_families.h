// Families of operators that `calibrate` times, each by one operator in several sizes.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "api/simulation/calibration/timing.h"
#include "distributed/simulator/machine.h"
#include "phi/common/dtype.h"

namespace phi::simulation {

struct MeasuredFamily {
  const char* name;
  std::vector<std::string> ops;  // that have its rates
  distributed::simulator::WorkUnit by;
  std::vector<int64_t> sizes;  // the first two with CalibrationOptions::quick
  /// Allocates the inputs of the operator that is timed; the result calls it.
  Work (*make)(DataType dtype, int64_t size);
};

std::vector<MeasuredFamily> measured_families();

/// A launch whose work takes next to no time.
Work smallest_launch();

}  // namespace phi::simulation
