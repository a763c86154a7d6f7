// Scratch memory that kernels keep.
#include "phi/kernels/cpu/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>

#include "phi/core/rank_context.h"

namespace phi {
namespace {

TEST(Workspace, KeepsTheLargestRoom) {
  Workspace workspace;
  float* const first = workspace.room<float>(100);
  EXPECT_EQ(reinterpret_cast<uintptr_t>(first) % 64, 0u);
  EXPECT_EQ(workspace.room<float>(100), first);
  EXPECT_EQ(workspace.room<char>(1), reinterpret_cast<char*>(first));
  EXPECT_EQ(workspace.data<float>(), first);
  workspace.room<float>(1000)[999] = 1;
}

TEST(Workspace, AfterMemoryRanOut_HasRoomAgain) {
  Workspace workspace;
  workspace.room<char>(8);
  EXPECT_THROW(workspace.room<char>(std::numeric_limits<int64_t>::max()), std::bad_alloc);
  char* const room = workspace.room<char>(1);
  ASSERT_NE(room, nullptr);
  *room = 1;
}

// A second call takes no memory from the system.
TEST(Workspace, IsOfTheRanksCache) {
  constexpr int64_t kBytes = int64_t{4} << 20;
  const auto reserved = [] { return memory_stats(CPUPlace()).reserved; };
  const int64_t before = reserved();
  char* first = nullptr;
  {
    Workspace workspace;
    first = workspace.room<char>(kBytes);
    EXPECT_GE(reserved(), before + kBytes);
  }
  const int64_t kept = reserved();
  {
    Workspace workspace;
    EXPECT_EQ(workspace.room<char>(kBytes), first);
    const ScratchVector<double> other(kBytes / sizeof(double), 1.5);
    EXPECT_EQ(other.back(), 1.5);
    EXPECT_EQ(reserved(), kept + (kept - before));
  }
  release_cached();
  EXPECT_LE(reserved(), before);
}

// A thread's own scratch memory outlives the ranks that it has worked for.
TEST(Workspace, GoesBackToTheRankThatItCameFrom) {
  const int64_t before = memory_stats(CPUPlace()).reserved;
  Workspace workspace;
  {
    RankContext rank(1, 2);
    const RankContext::Scope scope(rank);
    workspace.room<char>(1 << 20)[0] = 1;
    EXPECT_GE(memory_stats(CPUPlace()).reserved, 1 << 20);
  }
  EXPECT_EQ(memory_stats(CPUPlace()).reserved, before);
  EXPECT_EQ(workspace.data<char>()[0], 1);
  workspace.room<char>(1 << 21)[0] = 2;
  EXPECT_GE(memory_stats(CPUPlace()).reserved, before + (1 << 21));
}

}  // namespace
}  // namespace phi
