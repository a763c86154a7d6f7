// Digit separators, and units of powers of 1024 and 1000.
#include "phi/common/readable_numbers.h"

#include <fmt/format.h>

#include <array>

namespace phi {
namespace {

// One decimal below 100, none above: 12.6, 126, 1.26 are shown as 12.6, 126, 1.3.
std::string three_digits(double value) {
  return value < 99.95 ? fmt::format("{:.1f}", value) : fmt::format("{:.0f}", value);
}

}  // namespace

std::string with_separators(int64_t value) {
  std::string digits = std::to_string(value);
  const int first = value < 0 ? 1 : 0;
  for (int at = static_cast<int>(digits.size()) - 3; at > first; at -= 3) digits.insert(at, ",");
  return digits;
}

std::string human_bytes(int64_t bytes) {
  constexpr std::array kUnits = {"B", "KiB", "MiB", "GiB", "TiB"};
  auto value = static_cast<double>(bytes);
  size_t unit = 0;
  for (; value >= 1023.95 && unit + 1 < kUnits.size(); ++unit) value /= 1024;
  if (unit == 0) return fmt::format("{} B", bytes);
  return fmt::format("{} {}", three_digits(value), kUnits[unit]);
}

std::string human_count(int64_t count) {
  constexpr std::array kUnits = {"", "k", "M", "B", "T"};
  auto value = static_cast<double>(count);
  size_t unit = 0;
  for (; value >= 999.95 && unit + 1 < kUnits.size(); ++unit) value /= 1000;
  if (unit == 0) return std::to_string(count);
  return three_digits(value) + kUnits[unit];
}

}  // namespace phi
