// Bytes that the calling thread has asked the system's allocators for so far, whoever in the
// program asked: malloc and its relatives, operator new, anonymous mmap, except of address space
// alone (PROT_NONE). Never less; what is freed counts on. Link test_requested_bytes; not in builds
// with sanitizers, whose allocators are their own.
//
//   const int64_t before = requested_bytes();
//   relu(clipped);
//   EXPECT_LT(requested_bytes() - before, 1024);
//
// Unlike the resident size of a process it sees memory that nobody touches, and single bytes.
#pragma once

#include <cstdint>

namespace phi::testing {

int64_t requested_bytes();

}  // namespace phi::testing
