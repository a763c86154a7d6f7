// Stands in front of glibc's allocators; each call is handed on under glibc's own name for it.
#include "support/system/requested_bytes.h"

#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstddef>

namespace phi::testing {
namespace {

thread_local int64_t requested = 0;

}  // namespace

int64_t requested_bytes() { return requested; }

}  // namespace phi::testing

using phi::testing::requested;

extern "C" {

void* __libc_malloc(size_t bytes);
void* __libc_calloc(size_t count, size_t bytes);
void* __libc_realloc(void* block, size_t bytes);
void* __libc_memalign(size_t alignment, size_t bytes);

void* malloc(size_t bytes) {
  requested += static_cast<int64_t>(bytes);
  return __libc_malloc(bytes);
}

void* calloc(size_t count, size_t bytes) {
  requested += static_cast<int64_t>(count * bytes);
  return __libc_calloc(count, bytes);
}

void* realloc(void* block, size_t bytes) {
  requested += static_cast<int64_t>(bytes);
  return __libc_realloc(block, bytes);
}

void* memalign(size_t alignment, size_t bytes) {
  requested += static_cast<int64_t>(bytes);
  return __libc_memalign(alignment, bytes);
}

void* aligned_alloc(size_t alignment, size_t bytes) { return memalign(alignment, bytes); }

int posix_memalign(void** block, size_t alignment, size_t bytes) {
  *block = memalign(alignment, bytes);
  return *block ? 0 : ENOMEM;
}

void* mmap(void* address, size_t bytes, int protection, int flags, int fd, off_t offset) noexcept {
  if ((flags & MAP_ANONYMOUS) && protection != PROT_NONE) requested += static_cast<int64_t>(bytes);
  return reinterpret_cast<void*>(syscall(SYS_mmap, address, bytes, protection, flags, fd, offset));
}

}  // extern "C"
