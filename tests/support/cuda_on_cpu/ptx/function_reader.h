// Reads one function of PTX.
#pragma once

#include <memory>
#include <string_view>

#include "support/cuda_on_cpu/ptx/module.h"

namespace cuda_on_cpu::ptx {

/// `text` begins with the function's declaration. Null if it has no body. Fails, with the line,
/// where an instruction or a name is not known.
std::unique_ptr<Function> read_function(std::string_view text, Module& module);

}  // namespace cuda_on_cpu::ptx
