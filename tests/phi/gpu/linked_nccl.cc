// NCCL as the twin has it: a function that the twin lacks does not link.
#include "distributed/comm/nccl/library.h"

namespace phi::distributed {

const Nccl& nccl() {
  static const Nccl functions{
#define PHI_NCCL_ADDRESS(name) &::name,
      PHI_NCCL_FUNCTIONS(PHI_NCCL_ADDRESS)
#undef PHI_NCCL_ADDRESS
  };
  return functions;
}

}  // namespace phi::distributed
