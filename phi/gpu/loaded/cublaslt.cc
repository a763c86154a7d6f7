// Loads cuBLASLt at run time.
#include "phi/gpu/cublaslt.h"

#include <fmt/format.h>

#include "phi/gpu/library_file.h"

namespace phi::gpu {
namespace {

CublasLt load() {
  const std::string name = fmt::format("libcublasLt.so.{}", CUBLAS_VER_MAJOR);
  const LibraryFile file(
      {.name = name,
       .known_place = fmt::format("{}/{}", AUTOPHI_CUDA_LIBRARY_DIR, name),
       .purpose = "matmuls on GPUs need cuBLASLt",
       .advice = fmt::format("Install the libraries of CUDA {}", CUBLAS_VER_MAJOR)});
  CublasLt functions;
#define PHI_CUBLASLT_LOAD(name) functions.name = file.function<decltype(&::name)>(#name);
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
