// The line that a rank prints when it fails.
#pragma once

#include <fmt/core.h>

#include <cstdint>
#include <string>
#include <string_view>

namespace phi::distributed {

/// Returns "rank 3: no answer.". A message that already starts with a rank, such as an error that
/// ranks have exchanged, is returned unchanged.
inline std::string with_rank(int64_t rank, std::string_view message) {
  constexpr std::string_view kFront = "rank ";
  if (message.starts_with(kFront)) {
    const size_t end = message.find_first_not_of("0123456789", kFront.size());
    if (end != std::string_view::npos && end > kFront.size() &&
        message.substr(end).starts_with(": ")) {
      return std::string(message);
    }
  }
  return fmt::format("rank {}: {}", rank, message);
}

}  // namespace phi::distributed
