// Compares attributes.
#include "api/capture/ir.h"

#include <algorithm>
#include <bit>
#include <string_view>

namespace phi::ir {
namespace {

bool has_same_bits(double a, double b) {
  return std::bit_cast<uint64_t>(a) == std::bit_cast<uint64_t>(b);
}

bool is_same_value(const AttributeValue& a, const AttributeValue& b) {
  using Doubles = std::vector<double>;
  const auto* x = std::get_if<double>(&a);
  const auto* y = std::get_if<double>(&b);
  if (x && y) return has_same_bits(*x, *y);
  const auto* xs = std::get_if<Doubles>(&a);
  const auto* ys = std::get_if<Doubles>(&b);
  if (xs && ys) return std::ranges::equal(*xs, *ys, has_same_bits);
  return a == b;
}

}  // namespace

bool operator==(const Attribute& a, const Attribute& b) {
  return std::string_view(a.name) == b.name && is_same_value(a.value, b.value);
}

}  // namespace phi::ir
