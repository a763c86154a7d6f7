// Small arrays (scale, bias) converted to the compute type, and their gradients, on a GPU.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/kernels/gpu/device_primitives.h"

namespace phi::gpu {

/// Calls f.template operator()<T>() with the C++ type of a real floating dtype. Does nothing for
/// other dtypes.
template <typename F>
void visit_floating(DataType dtype, F&& f) {
  visit_dtype(dtype, [&]<typename T>() {
    if constexpr (kIs16Bit<T> || std::is_floating_point_v<T>) f.template operator()<T>();
  });
}

/// Read access to `weight` as an array of C: `weight` itself if it has that dtype, else a converted
/// copy that this object owns.
template <typename C>
class ComputeArray {
 public:
  ComputeArray(const GpuContext& ctx, const DenseTensor* weight) {
    if (!weight) return;
    array_ = *weight;
    if (weight->dtype() == dtype_of<C>()) return;
    array_ = DenseTensor::empty({weight->dims(), dtype_of<C>()}, ctx.place());
    visit_floating(weight->dtype(), [&]<typename T>() {
      convert(ctx, weight->data<T>(), array_.template mutable_data<C>(), weight->numel());
    });
  }
  /// Null if `weight` is null.
  const C* data() const { return array_.defined() ? array_.template data<C>() : nullptr; }

 private:
  DenseTensor array_;
};

/// Write access to `result` as an array of C. If the dtypes differ, data() returns a buffer, and
/// finish() converts it into `result`.
template <typename C>
class ComputeResult {
 public:
  ComputeResult(const GpuContext& ctx, DenseTensor* result) : ctx_(ctx), result_(result) {
    if (!result || result->dtype() == dtype_of<C>()) return;
    buffer_ = DenseTensor::empty({result->dims(), dtype_of<C>()}, ctx.place());
  }
  /// Null if `result` is null.
  C* data() {
    if (!result_) return nullptr;
    return (buffer_.defined() ? buffer_ : *result_).template mutable_data<C>();
  }
  void finish() {
    if (!buffer_.defined()) return;
    visit_floating(result_->dtype(), [&]<typename T>() {
      convert(ctx_, buffer_.template data<C>(), result_->mutable_data<T>(), result_->numel());
    });
  }

 private:
  const GpuContext& ctx_;
  DenseTensor* result_;
  DenseTensor buffer_;
};

}  // namespace phi::gpu
