// Jobs where a GPU is, run on the CPU: which are refused, and that what a program computes on is as
// before when a job has ended.
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "support/error_matchers.h"
#include "tools/cli/command_line.h"
#include "tools/job/dry_run.h"
#include "tools/job/report_of.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

namespace phi::job {
namespace {

std::string job_of(const std::string& place, const std::string& mode) {
  return "mode: " + mode + "\nplace: " + place +
         "\nmodel: {seq_len: 8, d_model: 16, layers: 1, heads: 2}\n" +
         (mode == "train" ? "run: {steps: 1}" : "generate: {tokens: 1, prompt: a}");
}

std::string run(const std::string& place, const std::string& mode) {
  return report_of(job_of(place, mode), "job.yaml", {{"quiet", "true"}});
}

class JobsAndGpus : public ::testing::TestWithParam<const char*> {
 protected:
  ~JobsAndGpus() override {
    context().set_place(CPUPlace());
    context().set_tf32(false);
  }
  static RankContext& context() { return distributed::World::current().rank_context(); }
};

TEST_P(JobsAndGpus, AModelThatHasNoKernelsThereIsRefused) {
  const std::string mode = GetParam();
  EXPECT_THAT([&] { run("gpu", mode); },
              ThrowsError(ErrorCode::kInvalidArgument,
                          "job.yaml:2: key 'place': kernel 'flash_attention" +
                              std::string(mode == "train" ? "" : "_with_kvcache") + "'"));
  EXPECT_EQ(context().place(), CPUPlace());
}

TEST_P(JobsAndGpus, ProductsInTf32AreOfGpus) {
  const gflags::FlagSaver saver;
  FLAGS_tf32 = true;
  EXPECT_THAT([&] { prepare(parse_job(job_of("cpu", GetParam()), "job.yaml")); },
              ::testing::ThrowsMessage<cli::UsageError>(::testing::StartsWith(
                  "--tf32 goes with place: gpu, and job.yaml has place: cpu")));
}

TEST_P(JobsAndGpus, AJobOnTheCpuLeavesTheProgramOnItsGpu) {
  const Place gpu = distributed::use_gpu({.tf32 = true});
  EXPECT_NE(run("cpu", GetParam()), "");
  EXPECT_EQ(context().place(), gpu);
  EXPECT_TRUE(context().tf32());
  EXPECT_EQ(memory_stats(gpu).peak, 0) << "the job has computed on the GPU";
}

TEST(PlayedJobs, TheFlagIsTheKey) {
  const gflags::FlagSaver saver;
  FLAGS_dry_run = true;
  gflags::SetCommandLineOption("world_size", "1");
  gflags::SetCommandLineOption("rank", "0");
  FLAGS_tf32 = true;
  EXPECT_TRUE(prepare(parse_job(job_of("gpu", "train"), "job.yaml")).config.run.tf32);
  FLAGS_tf32 = false;
  EXPECT_FALSE(prepare(parse_job(job_of("gpu", "train"), "job.yaml")).config.run.tf32);
}

INSTANTIATE_TEST_SUITE_P(Modes, JobsAndGpus, ::testing::Values("train", "generate"));

}  // namespace
}  // namespace phi::job
