// Escapes control characters in untrusted text (names in files, paths) for output on a terminal.
//
//   fmt::print("{}\n", printable("w\x1b[2J"));  // prints the escape as it is written here
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace phi {

/// Replaces control characters by escapes such as \x1b, because a terminal would execute them. Tabs
/// and newlines stay. C0 controls are single bytes; C1 controls are the UTF-8 sequences c2 80 to
/// c2 9f.
inline std::string printable(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  for (size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    const bool is_c0 = (byte < 0x20 && byte != '\n' && byte != '\t') || byte == 0x7f;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0;
    if (is_c0) {
      out += fmt::format("\\x{:02x}", byte);
    } else if (byte == 0xc2 && next >= 0x80 && next < 0xa0) {
      out += fmt::format("\\x{:02x}", next);
      ++i;
    } else {
      out += text[i];
    }
  }
  return out;
}

}  // namespace phi
