// Shapes and dtypes of ops that make tensors from attributes, and of dropout.
#include "phi/infermeta/creation.h"

#include <algorithm>
#include <cmath>

#include "phi/common/errors.h"

namespace phi {
namespace {

bool is_held_by_float(const Scalar& x) {
  return static_cast<double>(static_cast<float>(x.to<double>())) == x.to<double>();
}

/// Of numbers that float32 holds, as those of its tensors are, in float32: 0.3f is 3 steps of 0.1f
/// away, and in double a bit more.
double steps_between(const Scalar& start, const Scalar& end, const Scalar& step, DataType dtype) {
  constexpr float kExact = 0x1p23f;  // whole numbers up to here
  const auto steps = [&]<typename C>(C) { return (end.to<C>() - start.to<C>()) / step.to<C>(); };
  const bool held = is_held_by_float(start) && is_held_by_float(end) && is_held_by_float(step);
  const float single = steps(float());
  const bool counts = dtype == DataType::FLOAT32 && held && std::fabs(single) < kExact;
  return counts ? static_cast<double>(single) : steps(double());
}

}  // namespace

TensorMeta CreateInferMeta(const IntArray& shape, DataType dtype) {
  PHI_CHECK(
      dtype != DataType::UNDEFINED,
      errors::InvalidArgument("dtype is undefined for shape {}; give one.", shape.to_string()));
  for (int64_t size : shape.values()) {
    PHI_CHECK(size >= 0, errors::InvalidArgument("shape is {}, but extents must be at least 0.",
                                                 Dims(shape.values()).to_string()));
  }
  return {Dims(shape.values()), dtype};
}

TensorMeta ArangeInferMeta(const Scalar& start, const Scalar& end, const Scalar& step,
                           DataType dtype) {
  PHI_CHECK(dtype != DataType::UNDEFINED && dtype != DataType::BOOL,
            errors::InvalidArgument("dtype is {}, but arange counts in an integer or floating "
                                    "type; ask for one.",
                                    name_of(dtype)));
  const double step_value = step.to<double>();
  PHI_CHECK(step_value != 0.0,
            errors::InvalidArgument("step is 0: from {} it never reaches {}; give a step that is "
                                    "not 0.",
                                    start.to_string(), end.to_string()));
  const bool integral =
      !is_floating(start.dtype()) && !is_floating(end.dtype()) && !is_floating(step.dtype());
  if (integral) {  // exact for all of int64
    const auto distance = static_cast<__int128>(end.to<int64_t>()) - start.to<int64_t>();
    const __int128 by = step.to<int64_t>();
    const __int128 count = (distance + by - (by > 0 ? 1 : -1)) / by;
    const bool away = (distance > 0) != (by > 0) || distance == 0;
    return {Dims{away ? 0 : static_cast<int64_t>(count)}, dtype};
  }
  const double count = std::ceil(steps_between(start, end, step, dtype));
  PHI_CHECK(std::isfinite(count) && std::isfinite(step_value),
            errors::InvalidArgument("start {}, end {} and step {} must be finite numbers.",
                                    start.to_string(), end.to_string(), step.to_string()));
  return {Dims{static_cast<int64_t>(std::max(count, 0.0))}, dtype};
}

std::tuple<TensorMeta, TensorMeta> DropoutInferMeta(const TensorMeta& x) {
  return {x, TensorMeta{x.dims, DataType::UINT8, x.layout}};
}

}  // namespace phi
