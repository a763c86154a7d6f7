// Taking page-aligned memory from the system and giving it back.
#include "phi/memory/io/aligned_buffer.h"

#include <sys/mman.h>

#include <cstdlib>

#include "phi/common/errors.h"
#include "phi/common/more_memory.h"

namespace phi::memory {
namespace {
constexpr size_t kHugePage = size_t{1} << 21;
}

AlignedBuffer::AlignedBuffer(size_t nbytes) : size_(round_to_pages(nbytes)) {
  if (size_ == 0) return;
  const bool is_large = size_ >= kHugePage;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(is_large ? kHugePage : kPage, size_)));
  PHI_CHECK(data_, errors::ResourceExhausted("cannot allocate {} bytes of host memory. {}", size_,
                                             kHowToHaveMoreMemory));
  // Kernels run some per cent slower on an arena of small pages.
  if (is_large) madvise(data_.get(), size_ / kHugePage * kHugePage, MADV_HUGEPAGE);
}

void AlignedBuffer::Free::operator()(std::byte* data) const { std::free(data); }

}  // namespace phi::memory
