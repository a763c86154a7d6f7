// Instantiations of the reductions that several kernels use.
#include "phi/kernels/cpu/reduction/reduce_loop.h"

namespace phi::detail {

#define AUTOPHI_SHARED_REDUCTION(T, Lane, Acc)         \
  template void reduce(const T*, const Dims&, AxisSet, \
                       const ReduceFunctions<read_t<T>, Lane, Acc>&, const StoreFunction<Acc>&);
AUTOPHI_FOR_EACH_SHARED_REDUCTION(AUTOPHI_SHARED_REDUCTION)
#undef AUTOPHI_SHARED_REDUCTION

}  // namespace phi::detail
