// Allocates memory within a limit. Requests huge pages, because direct I/O pins each page.
#include "phi/out_of_core/device_arena.h"

#include <sys/mman.h>

#include "phi/common/errors.h"

namespace phi::memory {

AlignedBuffer DeviceArena::take(int64_t nbytes) {
  const auto rounded = static_cast<int64_t>(round_to_pages(static_cast<size_t>(nbytes)));
  reserve(rounded);
  AlignedBuffer out(static_cast<size_t>(rounded));
  // A hint: the result of madvise does not matter.
  if (rounded > 0) madvise(out.data(), out.size(), MADV_HUGEPAGE);
  return out;
}

void DeviceArena::reserve(int64_t nbytes) {
  PHI_CHECK(
      nbytes <= limit_ - held_,
      errors::ResourceExhausted("{} bytes are requested from device memory, which has allocated {} "
                                "of at most {}; raise the limit or use smaller blocks.",
                                nbytes, held_, limit_));
  held_ += nbytes;
}

}  // namespace phi::memory
