// Commands that are started: what they get, what is found of them, how they end.
#include "distributed/supervise/child_process.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <csignal>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "distributed/supervise/marked_processes.h"
#include "support/error_matchers.h"

namespace phi::distributed::supervise {
namespace {

using Words = std::vector<std::string>;

constexpr std::chrono::milliseconds kTick{5};

Words sh(const std::string& script) { return {"sh", "-c", script}; }

int status_of(ChildProcess& child) {
  while (!child.poll()) std::this_thread::sleep_for(kTick);
  return child.status();
}

std::string errors_of(ChildProcess& child) {
  std::string text;
  status_of(child);
  for (char c = 0; read(child.errors(), &c, 1) == 1;) text += c;
  return text;
}

TEST(ChildProcess, SaysHowItEnded) {
  ChildProcess seven(sh("exit 7"), {});
  EXPECT_EQ(describe_exit(status_of(seven)), "exit status 7");
  EXPECT_EQ(shell_status(seven.status()), 7);
  ChildProcess killed(sh("kill -9 $$"), {});
  EXPECT_EQ(describe_exit(status_of(killed)), "killed by signal 9 (Killed)");
  EXPECT_EQ(shell_status(killed.status()), 128 + SIGKILL);
}

TEST(ChildProcess, WhatDoesNotStartIsAnError) {
  EXPECT_THAT(
      [] {
        ChildProcess(Words{"/nowhere/mpirun", "-n"}, {});
      },
      ThrowsError(ErrorCode::kNotFound,
                  "cannot start '/nowhere/mpirun': No such file or directory"));
  EXPECT_THAT([] { ChildProcess(Words{}, {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "no command"));
}

TEST(ChildProcess, HasASessionOfItsOwnAndNoInput) {
  ChildProcess child(sh("cat >&2; ps -o sid= -p $$ >&2"), {.keeps_errors = true});
  EXPECT_EQ(std::stoi(errors_of(child)), child.pid());
}

TEST(ChildProcess, IsNotDeafToSignalsThatItsParentBlocksOrIgnores) {
  std::signal(SIGPIPE, SIG_IGN);
  sigset_t mask;
  sigemptyset(&mask);
  sigaddset(&mask, SIGTERM);
  pthread_sigmask(SIG_BLOCK, &mask, nullptr);
  ChildProcess term(sh("kill -TERM $$; exit 0"), {});
  ChildProcess pipe(sh("kill -PIPE $$; exit 0"), {});
  pthread_sigmask(SIG_UNBLOCK, &mask, nullptr);
  EXPECT_EQ(shell_status(status_of(term)), 128 + SIGTERM);
  EXPECT_EQ(shell_status(status_of(pipe)), 128 + SIGPIPE);
  std::signal(SIGPIPE, SIG_DFL);
}

TEST(ChildProcess, ItsVariableReplacesThatOfTheParent) {
  setenv("SUPERVISE_TEST", "old", 1);
  ChildProcess child(sh("echo $SUPERVISE_TEST >&2; env | grep -c ^SUPERVISE_TEST= >&2"),
                     {.variable = "SUPERVISE_TEST=new", .keeps_errors = true});
  EXPECT_EQ(errors_of(child), "new\n1\n");
  unsetenv("SUPERVISE_TEST");
}

TEST(ChildProcess, ReadsItsInput) {
  std::array<int, 2> ends{};
  ASSERT_EQ(pipe2(ends.data(), O_CLOEXEC), 0);
  ChildProcess child(sh("cat >&2"), {.keeps_errors = true, .input = ends[0]});
  close(ends[0]);
  ASSERT_EQ(write(ends[1], "a line\n", 7), 7);
  close(ends[1]);
  EXPECT_EQ(errors_of(child), "a line\n");
}

TEST(ChildProcess, IsToldWhenItsParentDies) {
  const std::string file = ::testing::TempDir() + "supervise_told_" + std::to_string(getpid());
  std::remove(file.c_str());
  const pid_t parent = fork();
  if (parent == 0) {
    const std::string script =
        "trap 'echo told > " + file + "; exit' USR2; echo up >&2; while :; do sleep 0.05; done";
    ChildProcess child(sh(script), {.on_parent_death = SIGUSR2, .keeps_errors = true});
    for (char c = 0; read(child.errors(), &c, 1) != 1;) std::this_thread::sleep_for(kTick);
    kill(getpid(), SIGKILL);
  }
  waitpid(parent, nullptr, 0);
  std::string word;
  while (word != "told") {
    std::this_thread::sleep_for(kTick);
    std::ifstream(file) >> word;
  }
  std::remove(file.c_str());
}

TEST(MarkedProcesses, AreFoundWhereverTheyWent) {
  const std::string mark = "SUPERVISE_TEST_MARK=" + std::to_string(getpid());
  // One whose parent is gone, in a session of its own, and one without the mark.
  ChildProcess child(
      sh("R=1 setsid sh -c 'R=0 sleep 1000 & exit' ; env -u SUPERVISE_TEST_MARK R=2 sleep "
         "1000 & R=3 exec sleep 1000"),
      {.variable = mark});
  using Values = std::set<std::string>;
  while (values_among(mark, "R") != Values{"0", "3"}) std::this_thread::sleep_for(kTick);
  // A shell that has yet to become the one without the mark still has it.
  while (signal_marked(mark, 0) != 2) std::this_thread::sleep_for(kTick);
  EXPECT_EQ(signal_marked(mark, SIGKILL), 2);
  EXPECT_EQ(shell_status(status_of(child)), 128 + SIGKILL);
  while (signal_marked(mark, 0) > 0) std::this_thread::sleep_for(kTick);
  EXPECT_EQ(values_among(mark, "R"), Values{});
  kill(-child.pid(), SIGKILL);  // that without the mark
}

}  // namespace
}  // namespace phi::distributed::supervise
