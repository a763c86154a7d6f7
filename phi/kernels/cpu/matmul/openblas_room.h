// Address space for OpenBLAS. It maps a buffer for each thread that computes in it at a time, and
// keeps it; where the system gives it none (ulimit -v) it tries again for ever, and a signal that
// has a handler does not end it. So room is looked for beforehand.
#pragma once

#include <cstddef>

namespace phi {

/// What OpenBLAS maps for a thread: BUFFER_SIZE (32 << 22) of its builds for x86-64 and AArch64;
/// those for others take less.
inline constexpr size_t kOpenblasBufferBytes = size_t{128} << 20;

/// A routine of OpenBLAS that works in a buffer is called while one lives: one at a time in a
/// thread. Errors: ResourceExhausted if there is no room for the buffer.
class OpenblasCall {
 public:
  OpenblasCall();
  ~OpenblasCall();
  OpenblasCall(const OpenblasCall&) = delete;
  OpenblasCall& operator=(const OpenblasCall&) = delete;
};

/// False if OpenBLAS computes with the calling thread alone from the start, since there was no room
/// for its threads' buffers when it was loaded.
bool openblas_may_have_threads();

}  // namespace phi
