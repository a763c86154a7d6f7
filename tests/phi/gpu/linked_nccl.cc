// NCCL as the emulator has it: a function that the emulator lacks does not link.
#include "distributed/comm/nccl/nccl_functions.h"

namespace phi::distributed {

const NcclFunctions& nccl() {
  static const NcclFunctions functions{
#define PHI_NCCL_ADDRESS(name) &::name,
      PHI_NCCL_FUNCTIONS(PHI_NCCL_ADDRESS)
#undef PHI_NCCL_ADDRESS
  };
  return functions;
}

}  // namespace phi::distributed
