// UTF-8 by table 3-7 of the Unicode Standard: no overlong forms, no surrogates.
#include "tools/job/output/text_stream.h"

namespace phi::job {
namespace {

constexpr const char* kReplacement = "\xEF\xBF\xBD";

// The length of the character that starts with this byte; 0 if none does.
size_t length_of(uint8_t first) {
  if (first < 0x80) return 1;
  if (first >= 0xC2 && first <= 0xDF) return 2;
  if (first >= 0xE0 && first <= 0xEF) return 3;
  return first >= 0xF0 && first <= 0xF4 ? 4 : 0;
}

// Whether `byte` may follow the bytes `begun`.
bool continues(const std::string& begun, uint8_t byte) {
  uint8_t low = 0x80;
  uint8_t high = 0xBF;
  if (begun.size() == 1) {
    switch (static_cast<uint8_t>(begun[0])) {
      case 0xE0:
        low = 0xA0;
        break;
      case 0xED:
        high = 0x9F;
        break;
      case 0xF0:
        low = 0x90;
        break;
      case 0xF4:
        high = 0x8F;
        break;
      default:
        break;
    }
  }
  return byte >= low && byte <= high;
}

bool is_control(const std::string& character) {
  const auto first = static_cast<uint8_t>(character[0]);
  if (first == '\n' || first == '\r' || first == '\t') return false;
  const bool c1 = first == 0xC2 && static_cast<uint8_t>(character[1]) < 0xA0;
  return first < 0x20 || first == 0x7F || c1;
}

}  // namespace

std::string TextStream::add(uint8_t byte) {
  std::string out;
  if (!pending_.empty() && !continues(pending_, byte)) out = end();
  if (pending_.empty()) length_ = length_of(byte);
  if (length_ == 0) return out + kReplacement;
  pending_ += static_cast<char>(byte);
  if (pending_.size() < length_) return out;
  out += is_control(pending_) ? kReplacement : pending_;
  pending_.clear();
  return out;
}

std::string TextStream::end() {
  const bool cut = !pending_.empty();
  pending_.clear();
  return cut ? kReplacement : "";
}

std::string shown(const std::string& bytes) {
  TextStream stream;
  std::string out;
  for (char byte : bytes) out += stream.add(static_cast<uint8_t>(byte));
  return out + stream.end();
}

}  // namespace phi::job
