// How the twin ends a test: what CUDA leaves undefined, or would hang on, is a text and an abort.
#pragma once

#include <string>

namespace cuda_on_cpu {

/// Writes `text` to stderr and aborts.
[[noreturn]] void fail(const std::string& text);
/// Writes `text` to stderr, for an error code that says too little by itself.
void explain(const std::string& text);
/// The name of the function at this address, demangled where the program has symbols.
std::string function_name(const void* address);

}  // namespace cuda_on_cpu
