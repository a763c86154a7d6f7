// The steps of a program with its scans written out, as an executor runs them.
#pragma once

#include <vector>

#include "api/capture/recording.h"

namespace phi::ir {

struct FlatProgram {
  std::vector<RecordedStep> steps;  // no scans
  std::vector<Buffer> buffers;      // those of the recording, then those of single trips
  ShownOps ops_behind;              // behind the last step
};

/// Takes the program's own steps; those of bodies are copied for each trip.
FlatProgram flatten(Recording& recording);

}  // namespace phi::ir
