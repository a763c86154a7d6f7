// A 64-bit checksum of one page, fast enough (tens of GB/s) to be taken of everything that is
// swapped.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phi::memory {

/// Of kPage bytes. `seed` makes a page that comes back from another place wrong too. Any change
/// within one 8-byte word changes it; others go unseen once in 2^64. Never 0.
uint64_t page_checksum(const std::byte* page, uint64_t seed);

}  // namespace phi::memory
