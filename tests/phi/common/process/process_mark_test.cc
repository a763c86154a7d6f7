#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include "phi/common/process/fork_detector.h"

namespace phi {
namespace {

// What `child`, run in a child of this process, gives.
template <typename Child>
bool in_child(Child child) {
  const pid_t pid = fork();
  if (pid == 0) _exit(child() ? 0 : 1);
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

TEST(ForkDetector, TellsTheProcessFromItsChildren) {
  const ForkDetector here;
  EXPECT_TRUE(here.is_of_this_process());
  EXPECT_TRUE(in_child([&] { return !here.is_of_this_process(); }));
  EXPECT_TRUE(here.is_of_this_process());
}

TEST(ForkDetector, OfAChildIsNotThatOfItsOwnChildren) {
  EXPECT_TRUE(in_child([] {
    const ForkDetector child;
    return child.is_of_this_process() && in_child([&] { return !child.is_of_this_process(); });
  }));
}

}  // namespace
}  // namespace phi
