// Small arrays (scale, bias) in the computing type, and their gradients, on a GPU.
#pragma once

#include "phi/core/dense_tensor.h"
#include "phi/kernels/gpu/words.h"

namespace phi::gpu {

/// f.template operator()<T>() with the C++ type of a floating dtype; nothing for another.
template <typename F>
void visit_floating(DataType dtype, F&& f) {
  visit_dtype(dtype, [&]<typename T>() {
    if constexpr (kIs16Bit<T> || std::is_floating_point_v<T>) f.template operator()<T>();
  });
}

/// `weight` itself if it has that dtype, else a copy held here.
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
  /// Null for an absent array.
  const C* data() const { return array_.defined() ? array_.template data<C>() : nullptr; }

 private:
  DenseTensor array_;
};

/// A place to write what goes to `result` in the computing type: result itself, or beside it until
/// `finish`.
template <typename C>
class ComputeResult {
 public:
  ComputeResult(const GpuContext& ctx, DenseTensor* result) : ctx_(ctx), result_(result) {
    if (!result || result->dtype() == dtype_of<C>()) return;
    buffer_ = DenseTensor::empty({result->dims(), dtype_of<C>()}, ctx.place());
  }
  /// Null where the result is not wanted.
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
