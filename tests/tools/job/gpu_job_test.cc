// Jobs where a GPU is, run on the CPU: they compute there what they compute on CPUs, and leave what
// a program computes on as it was.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "tools/job/report_of.h"

namespace phi::job {
namespace {

using nlohmann::json;

struct Job {
  const char* mode;
  const char* kind;  // of the model
  const char* dtype;
};

std::string text_of(const Job& job, const std::string& place) {
  const std::string data = "\ndata: {paths: [\"" AUTOPHI_SOURCE_DIR "/docs\"]}";
  const bool trains = std::string(job.mode) == "train";
  return std::string("mode: ") + job.mode + "\nplace: " + place + "\nmodel: {kind: " + job.kind +
         ", seq_len: 24, d_model: 32, layers: 2, heads: 4}" + (trains ? data : "") + "\nrun: {" +
         (trains ? "steps: 3, " : "") + "dtype: " + job.dtype + "}\n" +
         (trains ? "" : "generate: {tokens: 6, prompt: abc}");
}

json run(const Job& job, const std::string& place) {
  return json::parse(report_of(text_of(job, place), "job.yaml", {{"quiet", "true"}}));
}

class JobsOnGpus : public ::testing::TestWithParam<Job> {
 protected:
  ~JobsOnGpus() override { context().set_place(CPUPlace()); }
  static RankContext& context() { return distributed::World::current().rank_context(); }
};

TEST_P(JobsOnGpus, ComputeWhatTheyComputeOnCpus) {
  const Job& job = GetParam();
  const json expected = run(job, "cpu");
  const json got = run(job, "gpu");
  EXPECT_EQ(context().place(), CPUPlace());
  EXPECT_EQ(got.value("text", ""), expected.value("text", ""));
  const auto losses = got.at("losses").get<std::vector<double>>();
  const auto wanted = expected.at("losses").get<std::vector<double>>();
  ASSERT_EQ(losses.size(), wanted.size());
  const double limit = std::string(job.dtype) == "float32" ? 1e-5 : 2e-2;
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], limit) << i;
  EXPECT_GT(got.at("ranks").at(0).at("peak_tensor_bytes").get<int64_t>(), 0);
}

TEST_P(JobsOnGpus, OnTheCpuLeaveTheProgramOnItsGpu) {
  const Place gpu = distributed::use_gpu();
  reset_memory_peak(gpu);
  const int64_t before = memory_stats(gpu).peak;
  run(GetParam(), "cpu");
  EXPECT_EQ(context().place(), gpu);
  EXPECT_EQ(memory_stats(gpu).peak, before) << "the job has computed on the GPU";
}

INSTANTIATE_TEST_SUITE_P(
    Kinds, JobsOnGpus,
    ::testing::Values(Job{"train", "gpt", "float32"}, Job{"train", "llama", "float32"},
                      Job{"train", "gpt", "bfloat16"}, Job{"generate", "gpt", "float32"}),
    [](const auto& info) {
      return std::string(info.param.mode) + "_" + info.param.kind + "_" + info.param.dtype;
    });

}  // namespace
}  // namespace phi::job
