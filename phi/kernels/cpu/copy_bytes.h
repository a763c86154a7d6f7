// copy_bytes: std::memcpy without its slow case for rows that move by a few bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace phi {

/// Copies `nbytes` bytes between arrays that do not overlap.
///
/// glibc's memcpy uses `rep movsb` from about 4 KiB on. On AMD's Zen 3 that is slow if the target
/// address is less than 32 bytes after the source address modulo 4,096, as it is for a row that
/// moves by one element: loads are mistaken for reads of earlier stores. Such rows are copied in
/// blocks of four registers, with all loads of a block before its stores.
inline void copy_bytes(void* to, const void* from, size_t nbytes) {
  using Register [[gnu::vector_size(32)]] = uint8_t;
  struct [[gnu::packed, gnu::may_alias]] Place {
    Register bytes;
  };
  constexpr size_t kBlock = 4 * sizeof(Place);
  constexpr size_t kLeast = 1024;  // memcpy copies shorter rows in registers too
  constexpr size_t kShort = 256;   // such a copy costs no more than the call of memcpy
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
