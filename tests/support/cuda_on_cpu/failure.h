// How the emulator fails a test: it prints a message and aborts where CUDA's behaviour is
// undefined, or where CUDA would hang.
#pragma once

#include <string>

namespace cuda_on_cpu {

/// Writes `text` to stderr and aborts.
[[noreturn]] void fail(const std::string& text);
/// Writes `text` to stderr, as detail for an error code.
void explain(const std::string& text);

}  // namespace cuda_on_cpu
