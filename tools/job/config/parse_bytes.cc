// Parses sizes with units.
#include <array>
#include <charconv>
#include <cmath>

#include "tools/job/config/section.h"

namespace phi::job {
namespace {

struct Unit {
  std::string_view name;
  double bytes;
};
constexpr std::array<Unit, 10> kUnits = {{{"", 1},
                                          {"B", 1},
                                          {"KiB", 1024.0},
                                          {"MiB", 1048576.0},
                                          {"GiB", 1073741824.0},
                                          {"TiB", 1099511627776.0},
                                          {"KB", 1e3},
                                          {"MB", 1e6},
                                          {"GB", 1e9},
                                          {"TB", 1e12}}};

}  // namespace

std::optional<int64_t> parse_bytes(const std::string& text) {
  double number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (fault != std::errc()) return std::nullopt;
  std::string_view name(end, static_cast<size_t>(text.data() + text.size() - end));
  while (name.starts_with(' ')) name.remove_prefix(1);
  for (const Unit& unit : kUnits) {
    const double bytes = number * unit.bytes;
    const bool whole = bytes == 0 || (bytes >= 1 && bytes < 9e18);
    if (name == unit.name && whole) return std::llround(bytes);
  }
  return std::nullopt;
}

}  // namespace phi::job
