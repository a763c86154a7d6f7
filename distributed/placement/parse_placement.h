// Parses the text that Placement::to_string writes.
#pragma once

#include <optional>
#include <string_view>

#include "distributed/placement/placement.h"

namespace phi::distributed {

/// How to write a placement, for error messages.
inline constexpr std::string_view kPlacementForms = "R, S0, S0.1, P(sum), P(avg), P(max), ...";

/// Parses "R", "S0", "S0.1", "P" (sum) and "P(max)"; nothing for other texts.
/// Errors: InvalidArgument for an unknown reduction.
std::optional<Placement> parse_placement(std::string_view text);

}  // namespace phi::distributed
