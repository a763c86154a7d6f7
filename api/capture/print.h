// Formats captured programs as text.
#pragma once

#include <string>
#include <vector>

#include "api/capture/recording.h"

namespace phi::ir {

/// The global program, one operation per line in the form of ir.h; bodies of scans come first.
std::string to_string(const Recording& recording);
/// The steps of this rank with the buffers that they read and write. #n is a buffer of the program,
/// @n that of a parameter or constant.
std::string steps_to_string(const Recording& recording);

}  // namespace phi::ir
