// The supervisor with commands of the shell in mpirun's place: they end, hang, and do not listen.
#include "distributed/supervise/supervisor.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <csignal>
#include <filesystem>
#include <fstream>
#include <thread>

#include "distributed/supervise/marked_processes.h"
#include "distributed/supervise/status_file.h"
#include "support/error_matchers.h"

namespace phi::distributed::supervise {
namespace {

namespace fs = std::filesystem;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using Milliseconds = std::chrono::milliseconds;

constexpr Milliseconds kTick{5};
constexpr Milliseconds kSoon{1};  // limits that a test wants to see passed

class SupervisorTest : public ::testing::Test {
 protected:
  SupervisorTest() {
    fs::remove_all(folder_);
    fs::create_directories(folder_);
  }
  ~SupervisorTest() override { fs::remove_all(folder_); }

  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  bool has(const std::string& name) const { return fs::exists(folder_ / name); }
  void touch(const std::string& name) const { std::ofstream(folder_ / name) << "\n"; }
  void wait_for(const std::string& name) const {
    while (!has(name)) std::this_thread::sleep_for(kTick);
  }

  // Scripts run in the folder; $N is the number of the start; `step K` says that it is in step K.
  SupervisorOptions options(const std::string& script) {
    SupervisorOptions options;
    options.next = [this, script] {
      const std::string start =
          fmt::format("cd '{}'; N={}; step() {{ printf 'step %012d\\n' $1 > status; }}\n",
                      folder_.string(), ++starts_);
      return JobLaunch{.command = {"sh", "-c", start + script}, .ranks = 2, .mesh = "dp=2"};
    };
    options.status_file = path("status");
    options.first_pause = options.longest_pause = kSoon;
    return options;
  }

  fs::path folder_ = fs::path(::testing::TempDir()) / fmt::format("supervisor_{}", getpid());
  int starts_ = 0;
};

TEST_F(SupervisorTest, AJobThatEndsWellIsStartedOnce) {
  Supervisor supervisor(options("step 3; exit 0"));
  EXPECT_EQ(supervisor.run(), 0);
  ASSERT_EQ(supervisor.attempts().size(), 1U);
  EXPECT_EQ(supervisor.attempts()[0].step, 3);
  EXPECT_EQ(supervisor.attempts()[0].why, "exit status 0");
}

TEST_F(SupervisorTest, AJobThatFailsIsStartedAgain) {
  Supervisor supervisor(options("step $N; test $N = 4 || { echo rank 1: lost >&2; exit 1; }"));
  EXPECT_EQ(supervisor.run(), 0);
  ASSERT_EQ(supervisor.attempts().size(), 4U);
  EXPECT_EQ(supervisor.attempts()[2].step, 3);
  EXPECT_EQ(supervisor.attempts()[2].why, "exit status 1: rank 1: lost");
  EXPECT_EQ(supervisor.attempts()[2].mesh, "dp=2");
}

TEST_F(SupervisorTest, RestartsAreCounted) {
  SupervisorOptions two = options("step $N; exit 5");
  two.restarts = 2;
  ::testing::internal::CaptureStderr();
  Supervisor supervisor(two);
  EXPECT_EQ(supervisor.run(), 5);
  EXPECT_EQ(supervisor.attempts().size(), 3U);
  const std::string said = ::testing::internal::GetCapturedStderr();
  EXPECT_THAT(said, HasSubstr("attempt 2 ended at step 2: exit status 5; restart 2 of 2"));
  EXPECT_THAT(said, HasSubstr("not started again: 2 restarts are used up\nattempt "));
}

TEST_F(SupervisorTest, TheSameStepMayFailTwice) {
  ::testing::internal::CaptureStderr();
  Supervisor supervisor(options("test $N -le 2 && step 4 || step 7; exit 1"));
  EXPECT_EQ(supervisor.run(), 1);
  EXPECT_EQ(supervisor.attempts().size(), 5U);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("it failed 3 times at step 7"));
}

TEST_F(SupervisorTest, AStepOfAnEarlierAttemptIsNoneOfTheNext) {
  ::testing::internal::CaptureStderr();
  Supervisor supervisor(options("test $N -gt 1 || step 4; exit 1"));
  EXPECT_EQ(supervisor.run(), 1);
  EXPECT_EQ(supervisor.attempts().size(), 4U);
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              HasSubstr("it failed 3 times before its first step"));
}

TEST_F(SupervisorTest, WhatIsRefusedAtFirstIsNotTriedAgain) {
  Supervisor supervisor(options("exit 2"));
  EXPECT_EQ(supervisor.run(), 2);
  EXPECT_EQ(supervisor.attempts().size(), 1U);
  starts_ = 0;
  Supervisor later(options("test $N = 3 && exit 0; test $N -gt 1 || step 1; exit 2"));
  EXPECT_EQ(later.run(), 0) << "it had worked";
}

TEST_F(SupervisorTest, WhatDoesNotStartIsAnError) {
  SupervisorOptions none = options("");
  none.next = [] { return JobLaunch{.command = {"/nowhere/mpirun"}}; };
  EXPECT_THAT([&] { Supervisor(none).run(); },
              ThrowsError(ErrorCode::kNotFound, "cannot start '/nowhere/mpirun'"));
}

TEST_F(SupervisorTest, WaitsForMachines) {
  SupervisorOptions later = options("exit 0");
  later.retry_interval = kSoon;
  int asked = 0;
  later.next = [&, next = later.next]() -> std::optional<JobLaunch> {
    return ++asked < 2 ? std::nullopt : next();
  };
  EXPECT_EQ(Supervisor(later).run(), 0);
  EXPECT_EQ(asked, 2);
}

TEST_F(SupervisorTest, WaitsNoLongerThanItWasTold) {
  SupervisorOptions never = options("exit 7");
  never.wait = kSoon;
  never.next = [next = never.next, this]() -> std::optional<JobLaunch> {
    return starts_ > 0 ? std::nullopt : next();
  };
  ::testing::internal::CaptureStderr();
  EXPECT_EQ(Supervisor(never).run(), 7) << "of the last attempt";
  EXPECT_THAT(::testing::internal::GetCapturedStderr(), HasSubstr("not enough machines"));
}

// mpirun after a machine has vanished: its rank here has said so and ended; it stays, and ignores
// what it is told.
TEST_F(SupervisorTest, ACommandThatStaysWhenARankHasFailedIsEnded) {
  SupervisorOptions hangs = options(
      "test $N -gt 1 && exit 0; trap '' TERM; step 5; echo 'rank 0: rank 1 is missing' >&2; "
      "while :; do sleep 0.05; done");
  hangs.grace = kSoon;
  Supervisor supervisor(hangs);
  EXPECT_EQ(supervisor.run(), 0);
  EXPECT_EQ(supervisor.attempts()[0].why,
            "a rank ended, and the command was still running 0.001 s later: rank 0: rank 1 is "
            "missing");
  EXPECT_EQ(supervisor.attempts()[0].status, 128 + SIGKILL);
}

// Each signal to save is passed on before ranks are looked for: at the second one the rank that
// ends has been seen.
TEST_F(SupervisorTest, ACommandThatStaysWhenARankHasVanishedIsEnded) {
  SupervisorOptions hangs = options(
      "test $N -gt 1 && exit 0\n"
      "R=0 sh -c 'until test -e second; do sleep 0.05; done' &\n"
      "R=1 sh -c 'while :; do sleep 0.05; done' &\n"
      "trap 'test -e first && touch second; touch first' USR1; touch ready\n"
      "while :; do sleep 0.05; done");
  hangs.rank_variable = "R";
  hangs.grace = kSoon;
  std::thread signals([&] {
    wait_for("ready");
    kill(getpid(), SIGUSR1);
    wait_for("first");
    kill(getpid(), SIGUSR1);
  });
  Supervisor supervisor(hangs);
  EXPECT_EQ(supervisor.run(), 0);
  signals.join();
  EXPECT_EQ(supervisor.attempts().size(), 2U);
  EXPECT_THAT(supervisor.attempts()[0].why, StartsWith("a rank ended, and the command was still"));
}

TEST_F(SupervisorTest, ARankMayStartProcessesThatEnd) {
  SupervisorOptions well =
      options("R=0 sh -c 'for i in 1 2 3 4 5 6 7 8 9; do sleep 0.1; done' & wait; exit 0");
  well.rank_variable = "R";
  well.grace = Milliseconds(300);
  Supervisor supervisor(well);
  EXPECT_EQ(supervisor.run(), 0);
  EXPECT_EQ(supervisor.attempts().size(), 1U);
}

TEST_F(SupervisorTest, AStepThatTakesTooLongEndsTheAttempt) {
  SupervisorOptions slow = options("test $N -gt 1 && exit 0; step 9; while :; do sleep 0.05; done");
  slow.stall = Milliseconds(500);
  Supervisor supervisor(slow);
  EXPECT_EQ(supervisor.run(), 0);
  ASSERT_EQ(supervisor.attempts().size(), 2U);
  EXPECT_EQ(supervisor.attempts()[0].why, "ended after 0.5 s without a new step");
  EXPECT_EQ(supervisor.attempts()[0].status, 128 + SIGTERM);
}

TEST_F(SupervisorTest, NoProcessOfAnAttemptIsLeftForTheNext) {
  // It goes to a session of its own, and the command ends without it.
  SupervisorOptions leaves = options(
      "if test $N = 1; then setsid sh -c 'trap \"\" TERM; echo $$ > left; while :; do sleep 0.05; "
      "done' & until test -s left; do sleep 0.01; done; step 1; exit 1; fi; "
      "tr -d '\\0' < /proc/$(cat left)/environ | grep -q . && exit 3; exit 0");  // no zombie has
                                                                                 // one
  leaves.grace = kSoon;
  EXPECT_EQ(Supervisor(leaves).run(), 0);
}

TEST_F(SupervisorTest, ToldToStopItPassesThatOnAndStopsToo) {
  for (const int signal : {SIGTERM, SIGINT}) {
    fs::remove(folder_ / "ready");
    std::thread stop([&] {
      wait_for("ready");
      kill(getpid(), signal);
    });
    SupervisorOptions stops =
        options("trap 'touch saved; exit 140' USR2; touch ready; while :; do sleep 0.05; done");
    stops.stop_signal = SIGUSR2;
    Supervisor supervisor(stops);
    EXPECT_EQ(supervisor.run(), 128 + signal);
    stop.join();
    EXPECT_TRUE(has("saved"));
    EXPECT_EQ(supervisor.attempts().size(), 1U);
  }
}

TEST_F(SupervisorTest, AJobThatFailsWhileItStopsHasFailed) {
  std::thread stop([&] {
    wait_for("ready");
    kill(getpid(), SIGTERM);
  });
  Supervisor supervisor(options("trap 'exit 1' TERM; touch ready; while :; do sleep 0.05; done"));
  EXPECT_EQ(supervisor.run(), 1);
  stop.join();
}

TEST_F(SupervisorTest, TheSecondSignalToStopEndsItAtOnce) {
  std::thread stop([&] {
    wait_for("ready");
    kill(getpid(), SIGTERM);
    wait_for("told");
    kill(getpid(), SIGTERM);
  });
  Supervisor supervisor(
      options("trap 'touch told' TERM; touch ready; while :; do sleep 0.05; done"));
  EXPECT_EQ(supervisor.run(), 128 + SIGKILL);
  stop.join();
}

TEST_F(SupervisorTest, WhoDoesNotStopIsKilledAtTheLimit) {
  std::thread stop([&] {
    wait_for("ready");
    kill(getpid(), SIGTERM);
  });
  SupervisorOptions deaf = options("trap '' TERM; touch ready; while :; do sleep 0.05; done");
  deaf.stop_limit = kSoon;
  Supervisor supervisor(deaf);
  EXPECT_EQ(supervisor.run(), 128 + SIGKILL);
  stop.join();
  EXPECT_EQ(supervisor.attempts()[0].why, "killed, 0.001 s after the signal to stop");
}

TEST_F(SupervisorTest, ToldToStopBetweenAttemptsItStops) {
  SupervisorOptions waits = options("exit 1");
  waits.first_pause = waits.longest_pause = std::chrono::hours(1);
  waits.next = [next = waits.next, this] {
    touch("ready");
    return next();
  };
  std::thread stop([&] {
    wait_for("ready");
    kill(getpid(), SIGTERM);
  });
  EXPECT_THAT(Supervisor(waits).run(), ::testing::AnyOf(1, 128 + SIGTERM));
  stop.join();
}

TEST_F(SupervisorTest, DeadItLeavesNoJobAlone) {
  const pid_t supervisor = fork();
  if (supervisor == 0) {
    Supervisor(options("trap 'touch ended; exit 1' TERM; touch ready; "
                       "while :; do sleep 0.05; done"))
        .run();
    _exit(0);
  }
  wait_for("ready");
  kill(supervisor, SIGKILL);
  waitpid(supervisor, nullptr, 0);
  wait_for("ended");
}

}  // namespace
}  // namespace phi::distributed::supervise
