// Records a function, to make a program of it or to inspect its operations.
#pragma once

#include <memory>

#include "api/capture/program.h"
#include "api/capture/recording.h"

namespace phi::ir {

/// Same as capture(), but returns the recording. May be called during a capture, which does not
/// observe it.
std::shared_ptr<Recording> record(const Program::Function& function, const TensorList& inputs,
                                  ScanMode scans);

}  // namespace phi::ir
