// Pages: the unit in which host memory and disk are given out below device memory.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phi::memory {

/// The alignment of offsets, lengths and addresses in direct I/O.
inline constexpr size_t kPage = 4096;
/// The same, for arithmetic on signed offsets.
inline constexpr int64_t kPageBytes = kPage;

inline constexpr size_t round_to_pages(size_t nbytes) {
  return (nbytes + kPage - 1) / kPage * kPage;
}

}  // namespace phi::memory
