// Weights of a row's columns (scale, bias), of any floating dtype, on GPUs.
#pragma once

#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/team_row.h"

namespace phi::gpu {

/// Access to `weight` for kernels over rows of T: the array itself if its dtype is T or the compute
/// type, else a copy in the compute type that this object owns.
template <typename T>
class ColumnWeightArray {
 public:
  using C = compute_t<T>;

  /// `otherwise` replaces each weight if `weight` is null.
  ColumnWeightArray(const GpuContext& ctx, const DenseTensor* weight, C otherwise)
      : copy_(ctx, is_narrow(weight) ? nullptr : weight) {
    weights_.narrow = is_narrow(weight) ? weight->data<T>() : nullptr;
    weights_.wide = copy_.data();
    weights_.otherwise = otherwise;
  }

  const ColumnWeights<T>& get() const { return weights_; }
  const T* narrow() const { return weights_.narrow; }
  const C* wide() const { return weights_.wide; }

 private:
  static bool is_narrow(const DenseTensor* weight) {
    return weight && weight->dtype() == dtype_of<T>();
  }

  ComputeArray<C> copy_;
  ColumnWeights<T> weights_;
};

}  // namespace phi::gpu
