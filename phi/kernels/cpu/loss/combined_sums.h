// A few sums over all elements of a tensor, which the ranks that share it add up.
#pragma once

#include <algorithm>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"

namespace phi {

template <int kSums>
class CombinedSums {
 public:
  /// In a dry run the messages alone are of use.
  explicit CombinedSums(const KernelContext& ctx)
      : values_(DenseTensor::empty({{kSums}, DataType::FLOAT64}, ctx.place())) {
    if (!values_.initialized()) return;
    data_ = values_.mutable_data<double>();
    std::fill_n(data_, kSums, 0.0);
  }
  double& operator[](int i) { return data_[i]; }
  /// Over all tensor dims, `ndim` of them, of the op's tensor number `input`.
  void combine(const KernelContext& ctx, int input, int ndim) {
    for (int d = 0; ctx.view() && d < ndim; ++d)
      ctx.view()->combine_over(input, d, CombineKind::kSum, &values_);
  }

 private:
  DenseTensor values_;
  double* data_ = nullptr;
};

}  // namespace phi
