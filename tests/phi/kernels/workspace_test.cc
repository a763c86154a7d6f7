// Scratch memory that kernels keep.
#include "phi/kernels/cpu/workspace.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <limits>
#include <new>

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

}  // namespace
}  // namespace phi
