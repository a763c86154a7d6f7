// LibraryFile: a shared library that is loaded at run time, when the first of its functions is
// needed: those of CUDA take a second to load, which programs without GPUs need not wait for.
//
//   const LibraryFile file({.name = "libnccl.so.2", .known_place = "/usr/lib", .purpose = ..});
//   auto* const version = file.function<decltype(&ncclGetVersion)>("ncclGetVersion");
#pragma once

#include <string>

namespace phi::gpu {

struct LibraryToLoad {
  std::string name;         // "libcublasLt.so.13": where the system looks
  std::string known_place;  // else a file: where this build has it
  std::string purpose;      // "matrix products on GPUs need cuBLASLt"
  std::string advice;       // "Install the libraries of CUDA 13"
};

class LibraryFile {
 public:
  /// For the life of the process. Errors: Unavailable.
  explicit LibraryFile(LibraryToLoad library);

  /// Errors: Unavailable if the library lacks it.
  template <typename Function>
  Function function(const char* name) const {
    return reinterpret_cast<Function>(address(name));
  }

 private:
  void* address(const char* name) const;

  LibraryToLoad library_;
  void* handle_ = nullptr;
};

}  // namespace phi::gpu
