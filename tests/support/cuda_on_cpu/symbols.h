// What the symbol tables of the program and its libraries say of kernels.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

namespace cuda_on_cpu {

/// The name of the function at this address, demangled; the address where it was stripped.
std::string function_name(const void* address);
/// As C++ has it; a name that is none of C++'s stays as it is.
std::string demangled(const std::string& name);

/// The __shared__ variables that stand in the kernel itself. Those of functions that it calls are
/// not known: nvcc and ptxas, which know all, refuse what is too much.
struct SharedArray {
  std::byte* begin;
  size_t size;
};
const std::vector<SharedArray>& shared_arrays(const void* kernel);

}  // namespace cuda_on_cpu
