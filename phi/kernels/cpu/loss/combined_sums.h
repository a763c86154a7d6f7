// CombinedSums: a few sums over all elements of a tensor, added up over the ranks that hold its
// parts.
#pragma once

#include <algorithm>

#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/core/scratch_array.h"

namespace phi {

template <int kSums>
class CombinedSums {
 public:
  /// In a dry run the sums have no bytes, and only the messages of combine() count.
  explicit CombinedSums(const KernelContext& ctx)
      : values_(scratch_array({{kSums}, DataType::FLOAT64}, ctx.place())),
        data_(values_.mutable_data<double>()) {
    if (data_) std::fill_n(data_, kSums, 0.0);
  }
  double& operator[](int i) { return data_[i]; }
  /// Adds up the sums over all `ndim` tensor dims of the op's tensor number `input`.
  void combine(const KernelContext& ctx, int input, int ndim) {
    for (int d = 0; ctx.view() && d < ndim; ++d)
      ctx.view()->combine_over(input, d, CombineKind::kSum, &values_);
  }

 private:
  DenseTensor values_;
  double* data_;
};

}  // namespace phi
