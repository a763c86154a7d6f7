// Memory that is touched is resident, and the most is kept after it is returned.
#include "phi/common/process/resident_memory.h"

#include <gtest/gtest.h>
#include <sys/mman.h>

#include <cstring>

namespace phi {
namespace {

TEST(ResidentMemory, IsWhatTheProcessTouched) {
  constexpr size_t kBytes = size_t{64} << 20;
  const ResidentMemory before = resident_memory();
  ASSERT_GT(before.now, 0);
  EXPECT_GE(before.most, before.now);
  void* const block =
      mmap(nullptr, kBytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(block, MAP_FAILED);
  std::memset(block, 1, kBytes);
  EXPECT_GE(resident_memory().now, before.now + static_cast<int64_t>(kBytes / 2));
  munmap(block, kBytes);
  const ResidentMemory after = resident_memory();
  EXPECT_GE(after.most, before.now + static_cast<int64_t>(kBytes / 2));
  EXPECT_LT(after.now, after.most);
}

}  // namespace
}  // namespace phi
