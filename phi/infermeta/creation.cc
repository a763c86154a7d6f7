// Shapes and dtypes of dropout and of ops that create tensors from attributes.
#include "phi/infermeta/creation.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include "phi/common/errors.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

bool is_held_by_float(const Scalar& x) {
  return static_cast<double>(static_cast<float>(x.to<double>())) == x.to<double>();
}

/// (end - start) / step; for a float32 result in float, if float represents all three exactly. 3
/// steps of 0.1f reach 0.3f, but in double the quotient is slightly larger.
double steps_between(const Scalar& start, const Scalar& end, const Scalar& step, DataType dtype) {
  constexpr float kExact = 0x1p23f;  // float represents all integers up to here
  const auto steps = [&]<typename C>(C) { return (end.to<C>() - start.to<C>()) / step.to<C>(); };
  const bool held = is_held_by_float(start) && is_held_by_float(end) && is_held_by_float(step);
  const float single = steps(float());
  const bool counts = dtype == DataType::FLOAT32 && held && std::fabs(single) < kExact;
  return counts ? static_cast<double>(single) : steps(double());
}

/// `count` elements. Checks that `dtype` can represent the first and the last.
TensorMeta counted(int64_t count, const Scalar& start, const Scalar& last, DataType dtype) {
  if (count > 0) check_held(start, dtype, "start");
  if (count > 0) check_held(last, dtype, "the last number before end");
  return {Dims{count}, dtype};
}

void check_count(bool fits, const Scalar& start, const Scalar& end, const Scalar& step) {
  PHI_CHECK(fits, errors::InvalidArgument("from {} to {} there are more steps of {} than a tensor "
                                          "can have elements; use longer ones.",
                                          start.to_string(), end.to_string(), step.to_string()));
}

}  // namespace

TensorMeta FullInferMeta(const IntArray& shape, const Scalar& value, DataType dtype) {
  const TensorMeta out = CreateInferMeta(shape, dtype);
  check_held(value, dtype, "value");
  return out;
}

TensorMeta CreateInferMeta(const IntArray& shape, DataType dtype) {
  PHI_CHECK(
      dtype != DataType::UNDEFINED,
      errors::InvalidArgument("dtype is undefined for shape {}; pass one.", shape.to_string()));
  for (int64_t size : shape.values()) {
    PHI_CHECK(size >= 0, errors::InvalidArgument("shape is {}, but extents must be at least 0.",
                                                 Dims(shape.values()).to_string()));
  }
  return {Dims(shape.values()), dtype};
}

TensorMeta ArangeInferMeta(const Scalar& start, const Scalar& end, const Scalar& step,
                           DataType dtype) {
  PHI_CHECK(dtype != DataType::UNDEFINED && dtype != DataType::BOOL,
            errors::InvalidArgument(
                "dtype is {}, but arange counts in an integer or floating type; use one.",
                name_of(dtype)));
  const double step_value = step.to<double>();
  PHI_CHECK(
      step_value != 0.0,
      errors::InvalidArgument("step is 0: from {} it never reaches {}; pass a step that is not 0.",
                              start.to_string(), end.to_string()));
  const bool integral =
      !is_floating(start.dtype()) && !is_floating(end.dtype()) && !is_floating(step.dtype());
  if (integral) {  // exact for all of int64
    const auto distance = static_cast<__int128>(end.to<int64_t>()) - start.to<int64_t>();
    const __int128 by = step.to<int64_t>();
    const __int128 count = (distance + by - (by > 0 ? 1 : -1)) / by;
    const bool away = (distance > 0) != (by > 0) || distance == 0;
    if (away) return {Dims{0}, dtype};
    check_count(count <= std::numeric_limits<int64_t>::max(), start, end, step);
    const auto last = static_cast<int64_t>(start.to<int64_t>() + (count - 1) * by);
    return counted(static_cast<int64_t>(count), start, last, dtype);
  }
  const double count = std::ceil(steps_between(start, end, step, dtype));
  PHI_CHECK(std::isfinite(count) && std::isfinite(step_value),
            errors::InvalidArgument("start {}, end {} and step {} must be finite numbers.",
                                    start.to_string(), end.to_string(), step.to_string()));
  check_count(count < 0x1p63, start, end, step);
  const double last = start.to<double>() + (count - 1) * step_value;
  return counted(static_cast<int64_t>(std::max(count, 0.0)), start, last, dtype);
}

std::tuple<TensorMeta, TensorMeta> DropoutInferMeta(const TensorMeta& x) {
  return {x, TensorMeta{x.dims, DataType::UINT8, x.layout}};
}

}  // namespace phi
