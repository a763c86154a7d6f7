// Reductions that a reducer says all of. An empty `axis` is all; negative ones count from the back.
#include "phi/core/kernel_registry.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/kernels/cpu/reduce_loop.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

template <typename R, typename T, typename To>
void reduce(const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  reduce_loop<R>(x.data<T>(), x.dims(), normalise_axes(axis, x.dims()),
                 StoreTo(out->mutable_data<To>()));
}

}  // namespace

// Over nothing, as in an empty shard, each gives its reducer's identity.
#define PHI_DEFINE_REDUCTION_(Name, Axes, To)                                                   \
  template <typename T, typename Context>                                                       \
  void Name##Kernel(const Context&, const DenseTensor& x, const Axes& axis, DenseTensor* out) { \
    reduce<Name##Reducer<T>, T, To>(x, axis, out);                                              \
  }
PHI_DEFINE_REDUCTION_(Max, IntArray, T)
PHI_DEFINE_REDUCTION_(Min, IntArray, T)
PHI_DEFINE_REDUCTION_(All, std::vector<int64_t>, bool)
PHI_DEFINE_REDUCTION_(Any, std::vector<int64_t>, bool)
#undef PHI_DEFINE_REDUCTION_

/// Integers wrap around.
template <typename T, typename Context>
void ProdKernel(const Context&, const DenseTensor& x, const IntArray& axis, bool reduce_all,
                DenseTensor* out) {
  reduce<ProdReducer<T>, T, T>(x, reduce_all ? IntArray() : axis, out);
}

PHI_REGISTER_KERNEL(max, CPU, MaxKernel, AllTypes);
PHI_REGISTER_KERNEL(min, CPU, MinKernel, AllTypes);
PHI_REGISTER_KERNEL(all, CPU, AllKernel, AllTypes);
PHI_REGISTER_KERNEL(any, CPU, AnyKernel, AllTypes);
PHI_REGISTER_KERNEL(prod, CPU, ProdKernel, AllTypes);

}  // namespace phi
