// Taking page-aligned memory from the system and giving it back.
#include "phi/memory/aligned_buffer.h"

#include <cstdlib>

#include "phi/common/errors.h"

namespace phi::memory {

AlignedBuffer::AlignedBuffer(size_t nbytes) : size_(round_to_pages(nbytes)) {
  if (size_ == 0) return;
  data_.reset(static_cast<std::byte*>(std::aligned_alloc(kPage, size_)));
  PHI_CHECK(data_, errors::ResourceExhausted("cannot allocate {} bytes of host memory.", size_));
}

void AlignedBuffer::Free::operator()(std::byte* data) const { std::free(data); }

}  // namespace phi::memory
