// Parses placements.
#include "distributed/placement/parse_placement.h"

#include <charconv>

#include "distributed/mesh/process_mesh.h"
#include "phi/common/dims.h"

namespace phi::distributed {
namespace {

std::optional<int> parse_below(std::string_view text, int limit) {
  int value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_number = error == std::errc{} && end == text.data() + text.size();
  if (!is_number || value < 0 || value >= limit) return std::nullopt;
  return value;
}

// Parses "0" and "0.1".
std::optional<Placement> parse_shard(std::string_view text) {
  const size_t dot = text.find('.');
  const std::optional<int> tensor_dim = parse_below(text.substr(0, dot), kMaxNdim);
  const std::optional<int> order = dot == std::string_view::npos
                                       ? std::optional(0)
                                       : parse_below(text.substr(dot + 1), kMaxMeshNdim);
  if (!tensor_dim || !order) return std::nullopt;
  return Shard(*tensor_dim, *order);
}

}  // namespace

std::optional<Placement> parse_placement(std::string_view text) {
  if (text == "R") return Replicate();
  if (text == "P") return Partial();
  if (text.starts_with("P(") && text.ends_with(")"))
    return Partial(parse_reduce_kind(text.substr(2, text.size() - 3)));
  if (text.starts_with('S')) return parse_shard(text.substr(1));
  return std::nullopt;
}

}  // namespace phi::distributed
