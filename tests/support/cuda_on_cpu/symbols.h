// Kernel information from the symbol tables of the program and its libraries.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// The demangled name of the function at this address, or the address if symbols are stripped.
std::string function_name(const void* address);
/// The C++ form of a mangled name. Other names are returned unchanged.
std::string demangled(const std::string& name);

/// A __shared__ variable of a kernel. Variables of functions that the kernel calls are not known;
/// nvcc and ptxas, which know all, reject a kernel with too much shared memory.
struct SharedArray {
  std::byte* begin;
  size_t size;
};
const std::vector<SharedArray>& shared_arrays(const void* kernel);

}  // namespace cuda_on_cpu
