// Params, states and scalars of optimizer steps. Scalars that are array elements are read by the
// device.
//
// A maker makes the step of all elements of one param:
//   struct SgdMaker {
//     using Function = SgdStep<C>;
//     Number rate;
//     PHI_HD bool is_taken() const { return true; }  // else all stays as it is
//     PHI_HD Function step() const { return {rate.as<C>(), C(0)}; }
//   };
//   take_step<T>(ctx, trained, {State{..}, ..}, SgdMaker{..});
//
// With master_param, a float32 copy of a half-precision param, the step updates the master and
// rounds it into param. Without, a half-precision param is widened, updated and rounded. States are
// float32 for half-precision params, and otherwise have param's dtype. grad may always be float32.
// An output may be its input's buffer, as in an op call, or another one.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// A param and its gradient. The masters are null if there are none.
struct TrainedParam {
  const DenseTensor& param;
  const DenseTensor& grad;
  const DenseTensor* master;
  DenseTensor* param_out;
  DenseTensor* master_out;
};

/// A state's input and output.
struct OptimizerState {
  const DenseTensor& from;
  DenseTensor* to;
};

/// An element of an array of any real dtype, read by the device.
class DeviceScalar {
 public:
  explicit DeviceScalar(const DenseTensor& x, int64_t i = 0)
      : data_(static_cast<const std::byte*>(x.raw_data()) +
              i * static_cast<int64_t>(size_of(x.dtype()))),
        dtype_(x.dtype()) {}

  template <typename C>
  PHI_HD C as() const {
    switch (dtype_) {
      case DataType::FLOAT32:
        return of<C, float>();
      case DataType::FLOAT64:
        return of<C, double>();
      case DataType::FLOAT16:
        return of<C, float16>();
      case DataType::BFLOAT16:
        return of<C, bfloat16>();
      case DataType::INT32:
        return of<C, int32_t>();
      case DataType::INT64:
        return of<C, int64_t>();
      case DataType::INT16:
        return of<C, int16_t>();
      case DataType::INT8:
        return of<C, int8_t>();
      case DataType::UINT8:
        return of<C, uint8_t>();
      default:
        return of<C, bool>();
    }
  }

 private:
  template <typename C, typename T>
  PHI_HD C of() const {
    return convert_value<C>(*reinterpret_cast<const T*>(data_));
  }
  const std::byte* data_;
  DataType dtype_;
};

/// An optional bool array of one element that disables the step.
struct SkipFlag {
  const bool* flag;
  explicit SkipFlag(const DenseTensor* x) : flag(x ? x->data<bool>() : nullptr) {}
  PHI_HD bool is_set() const { return flag != nullptr && *flag; }
};

/// A scalar after a step, such as a power: multiplied by `factor` unless the step is skipped.
template <typename C>
struct ScaledScalar {
  DeviceScalar number;
  double factor;
  SkipFlag skip;
  /// In double, so that a skipped number keeps all its digits for every C.
  PHI_HD double operator()() const {
    if (skip.is_set()) return number.template as<double>();
    return static_cast<double>(
        static_cast<C>(static_cast<double>(number.template as<C>()) * factor));
  }
};

}  // namespace phi
