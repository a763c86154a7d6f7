// The single check of numbers that become elements.
#include "phi/infermeta/dtype_range.h"

#include <fmt/format.h>

#include <cmath>
#include <limits>
#include <string>
#include <type_traits>

#include "phi/common/errors.h"

namespace phi {
namespace {

/// The smallest and largest finite number of a floating dtype, or of the parts of a complex one.
std::pair<double, double> floating_range_of(DataType dtype) {
  switch (real_part_of(dtype)) {
    case DataType::FLOAT16:
      return {-65504.0, 65504.0};
    case DataType::BFLOAT16:
      return {-0x1.fep127, 0x1.fep127};
    case DataType::FLOAT32:
      return {std::numeric_limits<float>::lowest(), std::numeric_limits<float>::max()};
    default:
      return {std::numeric_limits<double>::lowest(), std::numeric_limits<double>::max()};
  }
}

bool has_integral_range(DataType dtype) { return is_integral(dtype) || dtype == DataType::BOOL; }

bool is_held(const Scalar& number, DataType dtype) {
  if (!has_integral_range(dtype)) {
    const auto [lowest, highest] = floating_range_of(dtype);
    const auto value = number.to<double>();
    return !std::isfinite(value) || (value >= lowest && value <= highest);
  }
  const auto [lowest, highest] = integral_range_of(dtype);
  if (!is_floating(number.dtype())) {
    const auto value = number.to<int64_t>();
    return value >= lowest && value <= highest;
  }
  // highest + 1 is a power of 2, so double represents it exactly; INT64_MAX itself rounds to it.
  const double whole = std::trunc(number.to<double>());
  return whole >= static_cast<double>(lowest) && whole < static_cast<double>(highest) + 1.0;
}

std::string range_text(DataType dtype) {
  if (has_integral_range(dtype)) {
    const auto [lowest, highest] = integral_range_of(dtype);
    return fmt::format("{} to {}", lowest, highest);
  }
  const auto [lowest, highest] = floating_range_of(dtype);
  return fmt::format("{} to {}", lowest, highest);
}

}  // namespace

std::pair<int64_t, int64_t> integral_range_of(DataType dtype) {
  return visit_dtype(dtype, []<typename T>() -> std::pair<int64_t, int64_t> {
    using Integer = std::conditional_t<std::is_integral_v<T>, T, int64_t>;
    return {std::numeric_limits<Integer>::min(), std::numeric_limits<Integer>::max()};
  });
}

void check_held(const Scalar& number, DataType dtype, std::string_view name) {
  if (is_held(number, dtype)) [[likely]]
    return;
  const std::string value =
      is_floating(number.dtype()) ? fmt::format("{}", number.to<double>()) : number.to_string();
  throw errors::InvalidArgument(
      "{} is {}, but numbers of {} are from {}; pass one of these, or a dtype that holds it.", name,
      value, name_of(dtype), range_text(dtype));
}

int64_t count_of(const Scalar& number, std::string_view name) {
  check_held(number, DataType::INT64, name);
  return number.to<int64_t>();
}

}  // namespace phi
