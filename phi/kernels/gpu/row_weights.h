// Weights of the places of a row (scale, bias), whatever their dtype, on GPUs.
#pragma once

#include "phi/kernels/gpu/compute_array.h"
#include "phi/kernels/gpu/rows.h"

namespace phi::gpu {

/// `weight` as rows of T read it: as it is if it has T's dtype or the computing one, else a copy in
/// that one, held here.
template <typename T>
class RowWeights {
 public:
  using C = compute_t<T>;

  /// `otherwise` stands for each weight of an absent array.
  RowWeights(const GpuContext& ctx, const DenseTensor* weight, C otherwise)
      : copy_(ctx, is_narrow(weight) ? nullptr : weight) {
    weights_.narrow = is_narrow(weight) ? weight->data<T>() : nullptr;
    weights_.wide = copy_.data();
    weights_.otherwise = otherwise;
  }

  const PlaceWeights<T>& get() const { return weights_; }
  const T* narrow() const { return weights_.narrow; }
  const C* wide() const { return weights_.wide; }

 private:
  static bool is_narrow(const DenseTensor* weight) {
    return weight && weight->dtype() == dtype_of<T>();
  }

  ComputeArray<C> copy_;
  PlaceWeights<T> weights_;
};

}  // namespace phi::gpu
