// What optimizers' steps are taken on, and the numbers that they are made of where those are
// elements of arrays: a device reads them itself.
//
// A maker makes the step of all elements of one param:
//   struct SgdMaker {
//     using Step = SgdStep<C>;
//     Number rate;
//     PHI_HD bool is_taken() const { return true; }  // else all stays as it is
//     PHI_HD Step step() const { return {rate.as<C>(), C(0)}; }
//   };
//   take_step<T>(ctx, trained, {State{..}, ..}, SgdMaker{..});
//
// With master_param, a float32 copy of a 16-bit param, the step is taken on the master and rounded
// into param. Otherwise a 16-bit param is widened, updated and rounded. States are float32 for
// 16-bit params, else param's dtype; grad may be float32 beside any param. An output may be its
// input's buffer, as it is when called as an op, or another one.
#pragma once

#include <cstdint>

#include "phi/core/dense_tensor.h"
#include "phi/kernels/functors/convert_value.h"

namespace phi {

/// A param and its gradient; the masters are null where there is none.
struct Trained {
  const DenseTensor& param;
  const DenseTensor& grad;
  const DenseTensor* master;
  DenseTensor* param_out;
  DenseTensor* master_out;
};

/// What a state was and where it goes.
struct State {
  const DenseTensor& from;
  DenseTensor* to;
};

/// An element of an array of any real dtype, which its device reads.
class Number {
 public:
  explicit Number(const DenseTensor& x, int64_t i = 0)
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

/// Whether an optional array of one bool says to leave all as it is.
struct SkipFlag {
  const bool* flag;
  explicit SkipFlag(const DenseTensor* x) : flag(x ? x->data<bool>() : nullptr) {}
  PHI_HD bool is_set() const { return flag != nullptr && *flag; }
};

/// A number that a step leaves behind, a power say: itself times `factor`, unless it is skipped.
template <typename C>
struct ScaledNumber {
  Number number;
  double factor;
  SkipFlag skip;
  /// In double, so that one that stays has all its digits, whatever C is.
  PHI_HD double operator()() const {
    if (skip.is_set()) return number.template as<double>();
    return static_cast<double>(
        static_cast<C>(static_cast<double>(number.template as<C>()) * factor));
  }
};

}  // namespace phi
