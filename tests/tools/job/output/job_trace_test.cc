// The trace of a job whose ranks are threads: which steps, all ranks in one file, what a failure
// leaves.
#include "tools/job/output/job_trace.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "distributed/comm/local/local_world.h"
#include "phi/core/trace/trace.h"
#include "tools/cli/command_line.h"

namespace phi::job {
namespace {

using distributed::run_ranks;
using distributed::World;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::SizeIs;

class JobTraceTest : public ::testing::Test {
 protected:
  JobTraceTest() : folder_(std::filesystem::temp_directory_path() / "autophi_job_trace_test") {
    std::filesystem::remove_all(folder_);
    std::filesystem::create_directories(folder_);
  }
  ~JobTraceTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path& folder() const { return folder_; }
  std::string path() const { return (folder_ / "trace.json").string(); }
  static nlohmann::json read(const std::string& path) {
    std::ifstream in(path);
    return nlohmann::json::parse(in);
  }
  static void do_op(World& world) {
    const TraceScope op(world.rank_context(), TraceKind::kOp, "op");
  }

 private:
  std::filesystem::path folder_;
};

// Op events per rank.
std::map<int, int> ops_in(const nlohmann::json& trace) {
  std::map<int, int> ops;
  for (const auto& event : trace["traceEvents"]) {
    if (event.value("cat", "") == "op") ++ops[event["pid"].get<int>()];
  }
  return ops;
}

TEST(TracedSteps, AreReadFromText) {
  EXPECT_TRUE(parse_traced_steps("").has(0));
  EXPECT_TRUE(parse_traced_steps("").has(1'000'000));
  const TracedSteps two = parse_traced_steps("2:3");
  EXPECT_FALSE(two.has(0));
  EXPECT_FALSE(two.has(1));
  EXPECT_TRUE(two.has(2));
  EXPECT_TRUE(two.has(3));
  EXPECT_FALSE(two.has(4));
  EXPECT_EQ(parse_traced_steps("7").last, 7);
  for (const char* text : {"0", "3:2", "1:", ":2", "1:2:3", "1-2", "x", "-1:2", " 1"}) {
    EXPECT_THAT(
        [&] { parse_traced_steps(text); },
        ::testing::ThrowsMessage<cli::UsageError>(::testing::HasSubstr(
            std::string("--trace_steps expects FIRST:LAST, counted from 1, e.g. 2:3, got '") +
            text)))
        << text;
  }
}

TEST_F(JobTraceTest, AllRanksAreInOneFile) {
  run_ranks(3, [this](World& world) {
    JobTrace trace(world, path(), {}, /*stage=*/world.rank());
    for (int64_t i = 0; i <= world.rank(); ++i) do_op(world);
    const std::string line = trace.write().line;
    if (world.rank() == 0) {
      EXPECT_THAT(line, HasSubstr("trace of 9 events"));
    } else {
      EXPECT_EQ(line, "");
    }
    EXPECT_FALSE(world.rank_context().observers().any());
  });
  const nlohmann::json trace = read(path());
  const std::map<int, int> expected = {{0, 1}, {1, 2}, {2, 3}};
  EXPECT_EQ(ops_in(trace), expected);
  EXPECT_EQ(trace["otherData"]["dropped_events"], 0);
  EXPECT_EQ(trace["otherData"]["events"], 9);  // 3 of the set-up
  EXPECT_THAT(trace["otherData"]["clock_bounds_us"], SizeIs(3));
  EXPECT_THAT(trace.dump(), HasSubstr("rank 2 · stage 2"));
}

TEST_F(JobTraceTest, RanksOfOneMachineHaveOneClock) {
  run_ranks(2, [&](World& world) {
    JobTrace trace(world, path(), {}, 0);
    if (world.rank() == 0) {
      do_op(world);
      world.everyone().barrier();
    } else {
      world.everyone().barrier();
      do_op(world);
    }
    trace.write();
  });
  std::map<int, double> at;
  const nlohmann::json trace = read(path());
  for (const auto& event : trace["traceEvents"]) {
    if (event.value("cat", "") == "op") at[event["pid"].get<int>()] = event["ts"].get<double>();
    EXPECT_GE(event.value("ts", 0.0), 0.0) << event;
  }
  EXPECT_LT(at[0], at[1]);
}

TEST_F(JobTraceTest, OnlyTheStepsAskedForAreRecorded) {
  run_ranks(2, [this](World& world) {
    JobTrace trace(world, path(), {2, 3}, 0);
    do_op(world);
    for (int64_t step = 1; step <= 4; ++step) {
      trace.step(step);
      do_op(world);
    }
    trace.step(0);
    do_op(world);
    trace.write();
  });
  std::multiset<int64_t> steps;
  const nlohmann::json trace = read(path());
  for (const auto& event : trace["traceEvents"]) {
    if (event.value("cat", "") == "op") steps.insert(event["args"]["step"].get<int64_t>());
  }
  EXPECT_THAT(steps, ElementsAre(2, 2, 3, 3));
}

TEST_F(JobTraceTest, CountsNothingOfItsOwn) {
  run_ranks(2, [this](World& world) {
    const JobTrace trace(world, path(), {}, 0);
    EXPECT_EQ(world.rank_context().counters().bytes_sent, 0);
    EXPECT_EQ(world.rank_context().counters().bytes_received, 0);
  });
}

TEST_F(JobTraceTest, WithoutAPathNothingHappens) {
  run_ranks(2, [](World& world) {
    JobTrace trace(world, "", {}, 0);
    trace.step(1);
    EXPECT_FALSE(world.rank_context().observers().any());
    EXPECT_EQ(trace.write().line, "");
    EXPECT_EQ(trace.write_alone(), "");
    EXPECT_EQ(world.everyone().calls(), 0u);
  });
}

TEST_F(JobTraceTest, ARankWritesAloneAfterAnError) {
  run_ranks(2, [this](World& world) {
    JobTrace trace(world, path(), {}, 0);
    trace.step(1);
    do_op(world);
    const std::string own = trace.write_alone();
    EXPECT_TRUE(own.ends_with("trace.rank" + std::to_string(world.rank()) + ".json")) << own;
    EXPECT_THAT(ops_in(read(own)), SizeIs(1));
  });
  EXPECT_FALSE(std::filesystem::exists(path()));
}

// The others send what they have all the same, and none waits for another.
TEST_F(JobTraceTest, AFileThatCannotBeWrittenIsAFaultOfRank0) {
  for (const std::string& nowhere : {std::string("/nonexistent/trace.json"), path()}) {
    std::filesystem::create_directories(path());  // a folder there
    run_ranks(3, [&](World& world) {
      JobTrace trace(world, nowhere, {}, 0);
      trace.step(1);
      do_op(world);
      const JobTrace::Written written = trace.write();
      EXPECT_EQ(written.line, "");
      EXPECT_EQ(written.fault.empty(), world.rank() != 0) << written.fault;
      world.everyone().barrier();
    });
  }
}

TEST_F(JobTraceTest, BesideAPipeARankWritesNothing) {
  ASSERT_EQ(mkfifo(path().c_str(), 0600), 0);
  run_ranks(1, [this](World& world) {
    JobTrace trace(world, path(), {}, 0);
    EXPECT_EQ(trace.write_alone(), "");
  });
  EXPECT_EQ(std::distance(std::filesystem::directory_iterator(folder()), {}), 1);
}

TEST_F(JobTraceTest, ARankThatCannotWriteAloneSaysNothing) {
  run_ranks(1, [](World& world) {
    JobTrace trace(world, "/nonexistent/trace.json", {}, 0);
    EXPECT_EQ(trace.write_alone(), "");
  });
}

}  // namespace
}  // namespace phi::job
