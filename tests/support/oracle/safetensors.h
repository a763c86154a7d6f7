// Safetensors files (huggingface.co/docs/safetensors): an 8-byte length, that
// much JSON with dtype, shape and place of each tensor, then their bytes.
#pragma once

#include <string>

#include "support/oracle/parameters.h"

namespace oracle {

/// Gives all parameters the values in the file, which must be F32 and hold each of them in its
/// shape and no others.
void read_safetensors(const std::string& file, Parameters* parameters);
/// Writes the values as F64.
void write_safetensors(const std::string& file, const Parameters& parameters);

}  // namespace oracle
