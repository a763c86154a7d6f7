// The recording of a function, for programs and for who wants to know what a function does.
#pragma once

#include <memory>

#include "api/capture/program.h"
#include "api/capture/recording.h"

namespace phi::ir {

/// As capture(), also while a program is being captured, which learns nothing of it.
std::shared_ptr<Recording> record(const Program::Function& function, const TensorList& inputs,
                                  Scans scans);

}  // namespace phi::ir
