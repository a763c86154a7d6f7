// ComputeArray: conversion of small arrays to compute types.
#include "phi/kernels/cpu/rows.h"

namespace phi {

template <typename C>
ComputeArray<C>::ComputeArray(const DenseTensor* weight) {
  if (!weight) return;
  if (weight->dtype() == dtype_of<C>()) {
    data_ = weight->data<C>();
    return;
  }
  copy_ = std::make_unique_for_overwrite<C[]>(weight->numel());
  visit_dtype(weight->dtype(),
              [&]<typename T>() { convert(weight->data<T>(), copy_.get(), weight->numel()); });
  data_ = copy_.get();
}

template class ComputeArray<float>;
template class ComputeArray<double>;

}  // namespace phi
