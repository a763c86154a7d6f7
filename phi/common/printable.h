// Text of unknown origin (names in files, paths), made fit for a terminal.
//
//   fmt::print("{}\n", printable("w\x1b[2J"));  // prints the escape as it is written here
#pragma once

#include <fmt/core.h>

#include <string>
#include <string_view>

namespace phi {

/// Control characters, which a terminal would obey, as \x1b; tabs and ends of lines stay. Those of
/// C1 are the UTF-8 sequences c2 80 to c2 9f.
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
