// Formats numbers for people.
#pragma once

#include <cstdint>
#include <string>

namespace phi {

/// 1234567 -> "1,234,567"
std::string with_separators(int64_t value);
/// 12.6 MiB, 512 B, 1.4 GiB
std::string human_bytes(int64_t bytes);
/// 10.9M, 1.2B, 532
std::string human_count(int64_t count);

}  // namespace phi
