// A child of fork() is no rank: calls are errors there that say so, transfers of the parent stay
// the parent's, and the child ends by itself. The parent's job goes on.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <functional>
#include <string>
#include <vector>

#include "distributed/comm/local/local_world.h"
#include "phi/common/errors.h"
#include "support/rank_launcher.h"

namespace phi::distributed {
namespace {

using ::testing::HasSubstr;
using testing::on_all_world_sizes;

struct Ended {
  int status;  // of exit; -1: by a signal
  std::string text;
};

// `child` in a child of this process: what it gives, or "no error".
Ended in_child(const std::function<std::string()>& child) {
  int ends[2];
  if (pipe(ends) != 0) return {-1, "no pipe"};
  const pid_t pid = fork();
  if (pid == 0) {
    alarm(20);
    const std::string text = child();
    const bool written = write(ends[1], text.data(), text.size()) == std::ssize(text);
    _exit(written ? 0 : 1);
  }
  close(ends[1]);
  Ended ended{-1, ""};
  char piece[512];
  for (ssize_t n = 0; (n = read(ends[0], piece, sizeof(piece))) > 0;) {
    ended.text.append(piece, static_cast<size_t>(n));
  }
  close(ends[0]);
  int status = 0;
  waitpid(pid, &status, 0);
  if (WIFEXITED(status)) ended.status = WEXITSTATUS(status);
  return ended;
}

std::string error_of(const std::function<void()>& call) {
  try {
    call();
  } catch (const Error& error) {
    return (error.code() == ErrorCode::kPreconditionNotMet ? "" : "another code: ") +
           std::string(error.what());
  }
  return "no error";
}

TEST(Fork, CallsOfAChildAreErrors) {
  on_all_world_sizes([](World& world) {
    const Ended ended = in_child([&] { return error_of([&] { world.everyone().barrier(); }); });
    EXPECT_EQ(ended.status, 0);
    EXPECT_THAT(ended.text,
                HasSubstr("barrier cannot be done here: this process was forked by "
                          "rank " +
                          std::to_string(world.rank()) + " of " + std::to_string(world.size())));
    EXPECT_FALSE(world.was_forked());
    world.everyone().barrier();  // nothing that the child did has come between
  });
}

TEST(Fork, TransfersStayTheParents) {
  on_all_world_sizes([](World& world) {
    if (world.size() < 2) return;
    const int64_t to = (world.rank() + 1) % world.size();
    const int64_t from = (world.rank() + world.size() - 1) % world.size();
    auto buffers = std::make_shared<std::vector<std::byte>>(size_t{2} << 20);
    const size_t half = buffers->size() / 2;
    buffers->front() = static_cast<std::byte>(world.rank());
    const Send send{to, buffers->data(), half};
    const Recv recv{from, buffers->data() + half, half};
    Transfer transfer = world.everyone().start_exchange({&send, 1}, {&recv, 1}, buffers);
    const bool is_over = transfer.done();  // nothing of it is anybody's then
    const Ended ended = in_child([&] {
      const std::string error = error_of([&] { transfer.wait(); });
      transfer = Transfer();
      finalize_world();
      return error;
    });
    EXPECT_THAT(ended.text, HasSubstr(is_over ? "no error" : "was forked by rank"));
    EXPECT_EQ(ended.status, 0);
    transfer.wait();
    EXPECT_EQ((*buffers)[half], static_cast<std::byte>(from));
  });
}

TEST(Fork, AChildOfARankEndsWhereTheBodyEnds) {
  std::vector<pid_t> children(2);
  run_ranks(2, [&](World& world) {
    const pid_t pid = fork();
    if (pid == 0 && world.rank() == 1) throw errors::InvalidArgument("in the child");
    children[static_cast<size_t>(world.rank())] = pid;
  });
  for (const int rank : {0, 1}) {
    int status = 0;
    ASSERT_EQ(waitpid(children[static_cast<size_t>(rank)], &status, 0), children[rank]);
    EXPECT_TRUE(WIFEXITED(status));
    EXPECT_EQ(WEXITSTATUS(status), rank);
  }
}

TEST(Fork, AChildMayRunRanksOfItsOwn) {
  const auto sum_of_three = [] {
    float sum = 0;
    run_ranks(3, [&](World& world) {
      float x = static_cast<float>(world.rank());
      world.everyone().all_reduce(&x, 1, DataType::FLOAT32, ReduceKind::kSum);
      if (world.rank() == 0) sum = x;
    });
    return std::to_string(static_cast<int>(sum));
  };
  EXPECT_EQ(sum_of_three(), "3");
  EXPECT_EQ(in_child(sum_of_three).text, "3");
}

}  // namespace
}  // namespace phi::distributed
