// A 64-bit checksum of one page. It is fast (tens of GB/s), so that every swapped page can have
// one.
#pragma once

#include <cstddef>
#include <cstdint>

namespace phi::memory {

/// Returns the checksum of kPage bytes. `seed` is the page's position, so that a page that was read
/// from a wrong position is detected. A change within one 8-byte word always changes the checksum;
/// other changes are missed with a probability of 2^-64. The result is never 0.
uint64_t page_checksum(const std::byte* page, uint64_t seed);

}  // namespace phi::memory
