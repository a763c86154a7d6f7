// Address space for OpenBLAS's buffers. OpenBLAS maps and keeps a buffer for each thread that
// computes in it concurrently. If the system refuses (ulimit -v), it retries for ever, and a
// handled signal does not end it. OpenblasCall therefore checks for address space beforehand.
#pragma once

#include <cstddef>

namespace phi {

/// Bytes that OpenBLAS maps per thread: BUFFER_SIZE (32 << 22) of its builds for x86-64 and
/// AArch64. Builds for other processors map less.
inline constexpr size_t kOpenblasBufferBytes = size_t{128} << 20;

/// Construct one around each call of an OpenBLAS routine that uses a buffer. A thread may have one
/// at a time.
///
/// Errors   ResourceExhausted if there is no address space for the buffer.
class OpenblasCall {
 public:
  OpenblasCall();
  ~OpenblasCall();
  OpenblasCall(const OpenblasCall&) = delete;
  OpenblasCall& operator=(const OpenblasCall&) = delete;
};

/// Returns false if OpenBLAS was limited to the calling thread when it was loaded, because there
/// was no address space for the buffers of its threads.
bool openblas_may_have_threads();

}  // namespace phi
