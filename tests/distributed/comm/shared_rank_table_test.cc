// Rank tables without MPI: who is seen on one, and what jobs leave behind that were killed as they
// began.
#include "distributed/comm/mpi/shared_rank_table.h"

#include <fmt/core.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <chrono>
#include <filesystem>
#include <memory>
#include <set>
#include <string>

#include "distributed/comm/mpi/watchdog.h"
#include "support/error_matchers.h"

namespace phi::distributed {
namespace {

using ::testing::HasSubstr;

LauncherEnvironment launch(int64_t rank, const std::string& job) {
  return {.rank = rank, .size = 3, .here = 3, .job = fmt::format("{} of {}", job, getppid())};
}

std::set<std::string> rank_tables() {
  std::set<std::string> names;
  const std::string prefix = fmt::format("autophi-{}-", geteuid());
  for (const auto& file : std::filesystem::directory_iterator("/dev/shm")) {
    const std::string name = file.path().filename().string();
    if (name.starts_with(prefix)) names.insert(name);
  }
  return names;
}

// Another process comes to the rank table, and is gone.
void come_and_die(const LauncherEnvironment& launched) {
  const pid_t child = fork();
  if (child == 0) {
    SharedRankTable::open(launched).release();
    _exit(0);
  }
  ASSERT_GT(child, 0);
  waitpid(child, nullptr, 0);
}

LauncherEnvironment of_child(int64_t rank, const LauncherEnvironment& of_parent) {
  LauncherEnvironment launched = of_parent;
  launched.rank = rank;
  return launched;
}

TEST(SharedRankTable, ShowsWhoHasComeAndWhoHasDied) {
  const LauncherEnvironment own = launch(0, "seen");
  const auto rank_table = SharedRankTable::open(own);
  if (rank_table->token() == 0) GTEST_SKIP() << "no /dev/shm here";
  come_and_die(of_child(1, own));
  EXPECT_TRUE(rank_table->has_registered(0) && rank_table->has_registered(1));
  EXPECT_FALSE(rank_table->has_registered(2));
  EXPECT_FALSE(rank_table->has_died(0) || rank_table->has_died(2));
  EXPECT_TRUE(rank_table->has_died(1));
  EXPECT_THAT(rank_table->rank_status(1).process, HasSubstr("has died, starting"));
  EXPECT_EQ(rank_table->rank_status(2).flight_recorder, nullptr);
  EXPECT_TRUE(rank_table->is_first_to_report());
  EXPECT_FALSE(rank_table->is_first_to_report());
}

TEST(SharedRankTable, IsRemovedByTheNextJobIfAllItsProcessesAreGone) {
  const std::set<std::string> before = rank_tables();
  come_and_die(launch(0, "killed"));
  std::set<std::string> left = rank_tables();
  for (const std::string& name : before) left.erase(name);
  if (left.empty()) GTEST_SKIP() << "no /dev/shm here";
  const auto alive = SharedRankTable::open(launch(0, "alive"));
  const auto next = SharedRankTable::open(launch(0, "next"));
  for (const std::string& name : left) EXPECT_FALSE(rank_tables().contains(name)) << name;
  const auto same = SharedRankTable::open(launch(1, "alive"));
  EXPECT_TRUE(same->has_registered(0)) << "a rank table of processes that live is kept";
  EXPECT_EQ(same->token(), alive->token());
}

TEST(SharedRankTable, HasNoNameWhenItIsClosed) {
  const auto rank_table = SharedRankTable::open(launch(0, "closed"));
  rank_table->close();
  const auto other = SharedRankTable::open(launch(1, "closed"));
  EXPECT_FALSE(other->has_registered(0));
  EXPECT_EQ(rank_table->rank_status(0).process, fmt::format("pid {}, starting", getpid()));
}

TEST(Watchdog, SaysThatThereAreNoDescriptors) {
  const LauncherEnvironment own = launch(0, "watched");
  const auto rank_table = SharedRankTable::open(own);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_NOFILE, &before), 0);
  rlimit none = before;
  none.rlim_cur = 0;
  ASSERT_EQ(setrlimit(RLIMIT_NOFILE, &none), 0);
  EXPECT_THAT([&] { const Watchdog watchdog(*rank_table, own, std::chrono::seconds(60)); },
              ThrowsError(ErrorCode::kResourceExhausted, "no descriptor for a rank's watchdog"));
  setrlimit(RLIMIT_NOFILE, &before);
}

TEST(SharedRankTable, WithoutAJobIsOnesOwn) {
  const auto rank_table = SharedRankTable::open({.rank = 1, .size = 2, .here = 1, .job = ""});
  EXPECT_EQ(rank_table->token(), 0u);
  EXPECT_TRUE(rank_table->has_registered(1));
  EXPECT_FALSE(rank_table->has_registered(0));
}

}  // namespace
}  // namespace phi::distributed
