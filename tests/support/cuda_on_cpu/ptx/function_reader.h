// Parser of one PTX function.
#pragma once

#include <memory>
#include <string_view>

#include "support/cuda_on_cpu/ptx/module.h"

namespace cuda_on_cpu::ptx {

/// Parses `text`, which begins with the function's declaration. Returns null if it has no body.
/// Fails with the line of an unknown instruction or name.
std::unique_ptr<Function> read_function(std::string_view text, Module& module);

}  // namespace cuda_on_cpu::ptx
