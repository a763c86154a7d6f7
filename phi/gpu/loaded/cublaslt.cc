// cuBLASLt as a library that is loaded at run time.
#include "phi/gpu/cublaslt.h"

#include <dlfcn.h>
#include <fmt/format.h>

#include "phi/common/errors.h"

namespace phi::gpu {
namespace {

void* open_library() {
  const std::string name = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
  if (void* library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  const std::string first = dlerror();
  // Where the toolkit of this build has it.
  const std::string here = fmt::format("{}/{}", AUTOPHI_CUDA_LIBRARY_DIR, name);
  void* const library = dlopen(here.c_str(), RTLD_NOW | RTLD_LOCAL);
  PHI_CHECK(library, errors::Unavailable(
                         "matrix products on GPUs need cuBLASLt, and it cannot be loaded: {}; {}. "
                         "Install the libraries of CUDA {}, or say where {} is in LD_LIBRARY_PATH.",
                         first, dlerror(), CUBLAS_VER_MAJOR, name));
  return library;
}

template <typename Function>
Function function_of(void* library, const char* name) {
  auto* const function = reinterpret_cast<Function>(dlsym(library, name));
  PHI_CHECK(function, errors::Unavailable("cuBLASLt of CUDA {} lacks {}; install a newer one.",
                                          CUBLAS_VER_MAJOR, name));
  return function;
}

CublasLt load() {
  void* const library = open_library();
  CublasLt functions;
#define PHI_CUBLASLT_LOAD(name) functions.name = function_of<decltype(&::name)>(library, #name);
  PHI_CUBLASLT_FUNCTIONS(PHI_CUBLASLT_LOAD)
#undef PHI_CUBLASLT_LOAD
  return functions;
}

}  // namespace

const CublasLt& cublaslt() {
  static const CublasLt functions = load();
  return functions;
}

}  // namespace phi::gpu
