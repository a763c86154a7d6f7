// cuBLASLt as the emulator has it: a function that the emulator lacks does not link.
#include "phi/gpu/cublaslt.h"

namespace phi::gpu {

const CublasLt& cublaslt() {
  static const CublasLt functions{
#define PHI_CUBLASLT_ADDRESS(name) &::name,
      PHI_CUBLASLT_FUNCTIONS(PHI_CUBLASLT_ADDRESS)
#undef PHI_CUBLASLT_ADDRESS
  };
  return functions;
}

}  // namespace phi::gpu
