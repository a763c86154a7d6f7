// Pages: the allocation unit of the host and disk tiers.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phi::memory {

/// Size of a page in bytes: the alignment of offsets, lengths and addresses in direct I/O.
inline constexpr size_t kPage = 4096;
/// The same, for arithmetic on signed offsets.
inline constexpr int64_t kPageBytes = kPage;

inline constexpr size_t round_to_pages(size_t nbytes) {
  return (nbytes + kPage - 1) / kPage * kPage;
}

}  // namespace phi::memory
