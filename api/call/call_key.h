// CallKey: the key of the decision cache. It is the concatenation of the bytes that determine a
// call's decision.
#pragma once

#include <array>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "api/call/grad_mask.h"
#include "phi/common/place.h"
#include "phi/core/attribute.h"

namespace phi {

/// A byte string with an inline buffer for ordinary calls; longer keys are stored on the heap.
class CallKey {
 public:
  template <typename T>
  requires std::is_trivially_copyable_v<T>
  void append(const T& value) { append_bytes(&value, sizeof(T)); }
  void append_bytes(const void* bytes, size_t n) {
    if (spilled_.empty() && size_ + n <= kInline) {
      std::memcpy(inline_.data() + size_, bytes, n);
      size_ += n;
      return;
    }
    spill(bytes, n);
  }
  std::string_view view() const {
    return spilled_.empty() ? std::string_view(inline_.data(), size_) : std::string_view(spilled_);
  }
  uint64_t hash() const {
    const std::string_view key = view();
    uint64_t h = 0x9e3779b97f4a7c15u ^ key.size();
    size_t i = 0;
    for (; i + 8 <= key.size(); i += 8) h = mix(h, load(key.data() + i, 8));
    if (i < key.size()) h = mix(h, load(key.data() + i, key.size() - i));
    return h ^ (h >> 32);
  }

 private:
  static constexpr size_t kInline = 384;
  static uint64_t load(const char* p, size_t n) {
    uint64_t word = 0;
    std::memcpy(&word, p, n);
    return word;
  }
  static uint64_t mix(uint64_t h, uint64_t word) {
    const auto product = static_cast<unsigned __int128>(h ^ word) * 0xa0761d6478bd642fu;
    return static_cast<uint64_t>(product) ^ static_cast<uint64_t>(product >> 64);
  }
  void spill(const void* bytes, size_t n);

  std::array<char, kInline> inline_;
  size_t size_ = 0;
  std::string spilled_;
};

// append_attr appends an attribute's value to a key.
template <typename T>
requires(std::is_arithmetic_v<T> || std::is_enum_v<T>) void append_attr(CallKey& key,
                                                                        const T& value) {
  key.append(value);
}
void append_attr(CallKey& key, const std::string& value);
inline void append_attr(CallKey& key, const Place& value) { key.append(value); }
inline void append_attr(CallKey& key, const GradMask& value) { key.append(value.bits()); }
void append_attr(CallKey& key, const Scalar& value);
void append_attr(CallKey& key, const IntArray& value);
template <typename T>
void append_attr(CallKey& key, const std::optional<T>& value) {
  key.append(value.has_value());
  if (value) append_attr(key, *value);
}
template <typename T>
void append_attr(CallKey& key, const std::vector<T>& values) {
  key.append(values.size());
  for (const auto& value : values) append_attr(key, static_cast<const T&>(value));
}

}  // namespace phi
