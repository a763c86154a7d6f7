// Unrolls the scans of a program into the list of steps that an executor runs.
#pragma once

#include <vector>

#include "api/capture/recording.h"

namespace phi::ir {

struct FlatProgram {
  std::vector<RecordedStep> steps;     // no scans
  std::vector<ProgramBuffer> buffers;  // those of the recording, then those of single trips
  TracedOps trailing_ops;              // after the last step
};

/// Moves the program's steps out of the recording. Steps of bodies are copied for each trip.
FlatProgram flatten(Recording& recording);

}  // namespace phi::ir
