// Kernel libraries: shared libraries of kernels in the folder of the core library. Each is loaded
// when one of its kernels is first needed. A program can also link it, to load it at the start.
//
//   load_kernel_library("vision");   // libautophi_vision.so, from the folder of libautophi.so
//
// The core knows which kernel is in which library (KernelLocation). Operators, rules and shape
// functions are in the core: only launching needs the library.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace phi {

/// Kernels of this name, for some dtypes at least, are in the library. Example: {"conv", "vision"}.
struct KernelLocation {
  const char* kernel;
  const char* library;
};

/// Registers which kernels are in which libraries. `homes` must live as long as the process.
void add_kernel_locations(std::span<const KernelLocation> homes);

/// Each kernel library defines one object of this class.
class KernelLibrary {
 public:
  /// Marks library `name` as loaded. `abi` is AUTOPHI_ABI: a library that was built with other
  /// headers than the core does not load, because its symbol is missing.
  KernelLibrary(const char* name, const char* abi);
};

/// All kernel libraries that the core knows, in alphabetical order.
std::vector<std::string> kernel_libraries();

bool is_kernel_library_loaded(std::string_view name);

/// Loads libautophi_<name>.so from the folder of the core library; does nothing if it is already
/// loaded. Errors: NotFound if the core does not know the library or the file does not exist;
/// InvalidArgument if the system cannot load it, or if it was built with other headers. You can
/// call it again after an error.
void load_kernel_library(std::string_view name);

/// Waits until no other thread loads a library. A library registers one thing after the other, so a
/// kernel can be found before the statement of its scratch memory.
void wait_for_kernel_libraries();

}  // namespace phi
