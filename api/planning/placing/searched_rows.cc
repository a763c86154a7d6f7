// Compares reasons with those of the declared placements, by name.
#include "api/planning/placing/searched_rows.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <string_view>

namespace phi::planning {
namespace {

// The number after `block` in "block12.up.weight"; nothing for other names.
std::optional<int> number_of(std::string_view name, std::string_view block) {
  if (!name.starts_with(block)) return std::nullopt;
  name.remove_prefix(block.size());
  int number = 0;
  const auto read = std::from_chars(name.data(), name.data() + name.size(), number);
  const bool is_whole =
      read.ec == std::errc() && (read.ptr == name.data() + name.size() || *read.ptr == '.');
  return is_whole ? std::optional(number) : std::nullopt;
}

int middle_of(const std::vector<Reason>& reasons, const std::string& block) {
  int last = 0;
  for (const Reason& reason : reasons)
    last = std::max(last, number_of(reason.name, block).value_or(0));
  return (last + 1) / 2;
}

bool is_declared(const PlacedLayers& declared, const Reason& reason) {
  return std::ranges::any_of(declared.reasons, [&](const Reason& each) {
    return each.kind == reason.kind && each.name == reason.name && each.attr == reason.attr;
  });
}

std::string pattern_of(const std::string& name, const std::string& block) {
  if (!number_of(name, block)) return name;
  const size_t dot = name.find('.', block.size());
  return block + "*" + (dot == std::string::npos ? "" : name.substr(dot));
}

}  // namespace

nn::Layout searched_rows(const ExplainedLayers& explained, const std::string& block) {
  nn::Layout rows;
  const int middle = middle_of(explained.best.reasons, block);
  for (const Reason& reason : explained.best.reasons) {
    if (reason.decided == Decided::kPin || is_declared(explained.declared, reason)) continue;
    if (number_of(reason.name, block).value_or(middle) != middle) continue;
    rows.add({reason.kind, pattern_of(reason.name, block), axis_placements_of(reason.attr)});
  }
  return rows;
}

}  // namespace phi::planning
