// Reductions that are fully defined by a reducer. An empty `axis` means all tensor dims; a negative
// one counts from the end.
#pragma once

#include "phi/generated/kernels/reduction.h"
#include "phi/infermeta/axes.h"
#include "phi/kernels/functors/convert_value.h"
#include "phi/kernels/functors/reduce.h"

namespace phi {
namespace {

/// Types that can be compared with 0 and multiplied.
using TruthTypes = join_t<AllTypes, Complexes>;

template <typename R, typename T, typename To, typename Context>
void reduce_by(const Context& ctx, const DenseTensor& x, const IntArray& axis, DenseTensor* out) {
  reduce<R>(ctx, x.data<T>(), x.dims(), normalise_axes(axis, x.dims()), out->mutable_data<To>(),
            ConvertFunctor<To>());
}

}  // namespace

// Without elements, as in an empty shard, the result is the reducer's identity.
#define PHI_DEFINE_REDUCTION_(Name, Axes, To)                                   \
  template <typename T, typename Context>                                       \
  void Name##Kernel(const Context& ctx, const DenseTensor& x, const Axes& axis, \
                    DenseTensor* out) {                                         \
    reduce_by<Name##Reducer<T>, T, To>(ctx, x, axis, out);                      \
  }
PHI_DEFINE_REDUCTION_(Max, IntArray, T)
PHI_DEFINE_REDUCTION_(Min, IntArray, T)
PHI_DEFINE_REDUCTION_(All, std::vector<int64_t>, bool)
PHI_DEFINE_REDUCTION_(Any, std::vector<int64_t>, bool)
#undef PHI_DEFINE_REDUCTION_

/// Integers wrap around.
template <typename T, typename Context>
void ProdKernel(const Context& ctx, const DenseTensor& x, const IntArray& axis, bool reduce_all,
                DenseTensor* out) {
  reduce_by<ProdReducer<T>, T, T>(ctx, x, reduce_all ? IntArray() : axis, out);
}

PHI_REGISTER_KERNEL(max, PHI_DEVICE, MaxKernel, AllTypes);
PHI_REGISTER_KERNEL(min, PHI_DEVICE, MinKernel, AllTypes);
PHI_REGISTER_KERNEL(all, PHI_DEVICE, AllKernel, TruthTypes);
PHI_REGISTER_KERNEL(any, PHI_DEVICE, AnyKernel, TruthTypes);
PHI_REGISTER_KERNEL(prod, PHI_DEVICE, ProdKernel, TruthTypes);

}  // namespace phi
