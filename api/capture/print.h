// Captured programs as text.
#pragma once

#include <string>
#include <vector>

#include "api/capture/recording.h"

namespace phi::ir {

/// "x f32[8,256] [S0,R] on mesh(dp=2,tp=2)"-like lines, one per operation; bodies of scans first.
std::string to_string(const Recording& recording);
/// The steps of this rank, with the buffers that they read and write: #n the program's own, @n
/// those of parameters and constants.
std::string steps_to_string(const Recording& recording);

}  // namespace phi::ir
