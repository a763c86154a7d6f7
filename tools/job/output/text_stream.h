// TextStream: bytes that come one at a time, made fit for a terminal.
//
//   TextStream stream;
//   for (uint8_t byte : text) std::cout << stream.add(byte) << std::flush;
//   std::cout << stream.end();
//
// A character of UTF-8 is given when its last byte is there. Bytes that are not UTF-8, and control
// characters but tab and the ends of lines (a terminal would obey them), are given as U+FFFD.
#pragma once

#include <cstdint>
#include <string>

namespace phi::job {

class TextStream {
 public:
  /// What can be shown now; often nothing.
  std::string add(uint8_t byte);
  /// The rest: U+FFFD if a character has begun and not ended.
  std::string end();

 private:
  std::string pending_;  // the beginning of a character
  size_t length_ = 0;    // that it will have
};

/// All of `bytes` at once.
std::string shown(const std::string& bytes);

}  // namespace phi::job
