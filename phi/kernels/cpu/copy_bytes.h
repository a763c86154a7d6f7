// copy_bytes: std::memcpy for rows of arrays, wherever they lie.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace phi {

/// Copies between arrays that do not overlap. From some 4 KiB on glibc's memcpy is `rep movsb`,
/// which AMD's Zen 3 runs at a tenth of its speed where the two addresses modulo 4096 are less than
/// 32 bytes apart, as those of a row that moves by an element are: loads take the stores before
/// them for stores to their own place. Such rows go in blocks of registers, all of a block's loads
/// first.
inline void copy_bytes(void* to, const void* from, size_t nbytes) {
  using Register [[gnu::vector_size(32)]] = uint8_t;
  struct [[gnu::packed, gnu::may_alias]] Place {
    Register bytes;
  };
  constexpr size_t kBlock = 4 * sizeof(Place);
  constexpr size_t kLeast = 1024;  // what is shorter goes in registers in memcpy too
  constexpr size_t kShort = 256;   // such a copy takes no longer than the call of memcpy
  const size_t ahead = (reinterpret_cast<uintptr_t>(to) - reinterpret_cast<uintptr_t>(from)) % 4096;
  auto* out = static_cast<std::byte*>(to);
  const auto* in = static_cast<const std::byte*>(from);
  if (ahead > 0 && ahead < 32 && nbytes > kLeast) {
    for (; nbytes >= kBlock; nbytes -= kBlock, in += kBlock, out += kBlock) {
      const auto* x = reinterpret_cast<const Place*>(in);
      const Register a = x[0].bytes, b = x[1].bytes, c = x[2].bytes, d = x[3].bytes;
      auto* y = reinterpret_cast<Place*>(out);
      y[0].bytes = a;
      y[1].bytes = b;
      y[2].bytes = c;
      y[3].bytes = d;
    }
  }
  if (nbytes >= sizeof(Place) && nbytes <= kShort) {
    const size_t last = nbytes - sizeof(Place);
    for (size_t i = 0; i < last; i += sizeof(Place))
      reinterpret_cast<Place*>(out + i)->bytes = reinterpret_cast<const Place*>(in + i)->bytes;
    reinterpret_cast<Place*>(out + last)->bytes = reinterpret_cast<const Place*>(in + last)->bytes;
    return;
  }
  std::memcpy(out, in, nbytes);
}

}  // namespace phi
