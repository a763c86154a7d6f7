// TextStream: converts single bytes into text that is safe for a terminal.
//
//   TextStream stream;
//   for (uint8_t byte : text) std::cout << stream.add(byte) << std::flush;
//   std::cout << stream.end();
//
// A UTF-8 character is returned when its last byte has arrived. Invalid bytes, and control
// characters except tab and line ends, which a terminal would execute, are replaced by U+FFFD.
#pragma once

#include <cstdint>
#include <string>

namespace phi::job {

class TextStream {
 public:
  /// The text that can be shown now; often empty.
  std::string add(uint8_t byte);
  /// The rest: U+FFFD if a character is incomplete.
  std::string end();

 private:
  std::string pending_;  // start of an incomplete character
  size_t length_ = 0;    // its full length
};

/// Converts all of `bytes`.
std::string shown(const std::string& bytes);

}  // namespace phi::job
