// Allocates page-aligned memory from a device.
#include "phi/memory/io/aligned_buffer.h"

#include "phi/common/errors.h"
#include "phi/common/memory_advice.h"

namespace phi::memory {

AlignedBuffer::AlignedBuffer(size_t nbytes, Device& device)
    : device_(&device), size_(round_to_pages(nbytes)) {
  if (size_ == 0) return;
  data_ = device.allocate_host(size_);
  PHI_CHECK(data_, errors::ResourceExhausted("cannot allocate {} bytes of host memory. {}", size_,
                                             kMoreMemoryAdvice));
}

}  // namespace phi::memory
