// LibraryFile: a shared library that is loaded when one of its functions is first needed. CUDA's
// libraries are loaded this way because loading is slow and programs without GPUs do not need them.
//
//   const LibraryFile file({.name = "libnccl.so.2", .known_place = "/usr/lib", .purpose = ..});
//   auto* const version = file.function<decltype(&ncclGetVersion)>("ncclGetVersion");
#pragma once

#include <string>

namespace phi::gpu {

struct LibrarySpec {
  std::string name;         // file name for the system's search path: "libcublasLt.so.13"
  std::string known_place;  // path from this build's configuration, tried next
  std::string purpose;      // for the error message: "matmuls on GPUs need cuBLASLt"
  std::string advice;       // for the error message: "Install the libraries of CUDA 13"
};

class LibraryFile {
 public:
  /// Loads the library, which stays loaded until the process ends. Errors: Unavailable.
  explicit LibraryFile(LibrarySpec library);

  /// The address of a function. Errors: Unavailable if the library lacks it.
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(address(name));
  }

 private:
  void* address(const char* name) const;

  LibrarySpec library_;
  void* handle_ = nullptr;
};

}  // namespace phi::gpu
