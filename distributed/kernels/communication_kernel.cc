// Communication operators on the CPU, and in dry runs of any device.
#define PHI_DEVICE CPU
#include "distributed/kernels/communication.h"

namespace phi {

PHI_REGISTER_DRY_KERNEL(all_gather, AllGatherKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(all_reduce, AllReduceKernel, AllTypes);
PHI_REGISTER_DRY_KERNEL(all_to_all, AllToAllKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(broadcast, BroadcastKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(reduce, ReduceKernel, AllTypes);
PHI_REGISTER_DRY_KERNEL(reduce_grad, ReduceGradKernel, Floats);
PHI_REGISTER_DRY_KERNEL(reduce_scatter, ReduceScatterKernel, AllTypes);
PHI_REGISTER_DRY_KERNEL(p_send, SendKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(p_recv, RecvKernel, EveryType);
PHI_REGISTER_DRY_KERNEL(c_concat, CConcatKernel, EveryType);

}  // namespace phi
