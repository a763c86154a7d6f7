// Jobs where a GPU is, run on the CPU: they compute there what they compute on CPUs, and leave what
// a program computes on as it was.
#include <fmt/format.h>
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>

#include "distributed/api.h"
#include "distributed/comm/world.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "tools/cli/command_line.h"
#include "tools/job/dry_run.h"
#include "tools/job/report_of.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

namespace phi::job {
namespace {

using nlohmann::json;

struct Job {
  const char* name;
  const char* text;
  double limit = 1e-5;   // of losses
  double memory = 0.01;  // by which peaks may differ, of the CPU's
};

const Job kJobs[] = {
    {"gpt", "model: {kind: gpt, seq_len: 24, d_model: 32, layers: 2, heads: 4}\nrun: {steps: 3}"},
    {"llama",
     "model: {kind: llama, seq_len: 24, d_model: 32, layers: 2, heads: 4, kv_heads: 2}\n"
     "run: {steps: 3}"},
    {"gpt_in_bfloat16",
     "model: {kind: gpt, seq_len: 24, d_model: 32, layers: 2, heads: 4}\n"
     "run: {steps: 3, dtype: bfloat16}",
     2e-2},
    {"captured",
     "model: {kind: gpt, seq_len: 24, d_model: 32, layers: 2, heads: 4}\n"
     "run: {steps: 3, capture: true}",
     1e-5, 0.02},  // inputs, outputs and scratch that graphs keep
    {"swapped",
     "model: {kind: gpt, seq_len: 24, d_model: 32, layers: 6, heads: 4}\n"
     "run: {steps: 3}\nmemory: {device: 512KiB, host: 64MiB}"},
    {"generation",
     "mode: generate\nmodel: {kind: gpt, seq_len: 24, d_model: 32, layers: 2, heads: 4}\n"
     "generate: {tokens: 6, prompt: abc}"},
};

const Job& kCaptured = kJobs[3];
const Job& kSwapped = kJobs[4];

std::string text_of(const Job& job, const std::string& place) {
  std::string text = std::string(job.text) + "\nplace: " + place + "\n";
  if (text.find("mode: generate") == text.npos)
    text += "data: {paths: [\"" AUTOPHI_SOURCE_DIR "/docs\"]}\n";
  return text;
}
json run(const Job& job, const std::string& place) {
  return json::parse(report_of(text_of(job, place), "job.yaml", {{"quiet", "true"}}));
}

class JobsInTf32 : public ::testing::Test {
 protected:
  ~JobsInTf32() override {
    context().set_place(CPUPlace());
    context().set_tf32(false);
  }
  static RankContext& context() { return distributed::World::current().rank_context(); }
};
class JobsOnGpus : public JobsInTf32, public ::testing::WithParamInterface<Job> {};

TEST_P(JobsOnGpus, ComputeWhatTheyComputeOnCpus) {
  const Job& job = GetParam();
  const json expected = run(job, "cpu");
  const json got = run(job, "gpu");
  EXPECT_EQ(context().place(), CPUPlace());
  EXPECT_EQ(got.value("text", ""), expected.value("text", ""));
  const auto losses = got.at("losses").get<std::vector<double>>();
  const auto wanted = expected.at("losses").get<std::vector<double>>();
  ASSERT_EQ(losses.size(), wanted.size());
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], job.limit) << i;
  // Parts of sums are kept a moment there.
  const auto peak = [](const json& report) {
    return report.at("ranks").at(0).at("peak_tensor_bytes").get<double>();
  };
  EXPECT_NEAR(peak(got), peak(expected), peak(expected) * job.memory);
}

TEST_P(JobsOnGpus, OnTheCpuLeaveTheProgramOnItsGpu) {
  const Place gpu = distributed::use_gpu({.tf32 = true});
  reset_memory_peak(gpu);
  const int64_t before = memory_stats(gpu).peak;
  run(GetParam(), "cpu");
  EXPECT_EQ(context().place(), gpu);
  EXPECT_TRUE(context().tf32());
  EXPECT_EQ(memory_stats(gpu).peak, before) << "the job has computed on the GPU";
}

TEST_P(JobsOnGpus, ProductsInTf32AreOfGpus) {
  const gflags::FlagSaver saver;
  FLAGS_tf32 = true;
  EXPECT_THAT([&] { prepare(parse_job(text_of(GetParam(), "cpu"), "job.yaml")); },
              ::testing::ThrowsMessage<cli::UsageError>(::testing::StartsWith(
                  "--tf32 requires place: gpu, and job.yaml has place: cpu")));
}

// The emulator's pool has no fragments, and grows in units of 2 MiB.
constexpr const char* kMachine =
    "device: gpu\nscratch_MiB: 2\n"
    "families:\n  float32: &all\n    matmul: {by: flops, points: [[1, 1e9]]}\n"
    "    bytes: {points: [[1, 1e9]]}\n  bfloat16: *all\n";

TEST(MemoryOfGpus, IsAtMostWhatIsPredicted) {
  const std::string machine = ::testing::TempDir() + "/gpu.yaml";
  std::ofstream(machine) << kMachine;
  const std::string model =
      "place: gpu\ndata: {paths: [\"" AUTOPHI_SOURCE_DIR
      "/docs\"]}\n"
      "model: {kind: gpt, seq_len: 24, d_model: 256, vocab: 300, layers: 2, heads: 4}\n"
      "run: {steps: 3, global_batch: 2, micro_batches: 2, ";
  for (const char* run : {"}", "dtype: bfloat16}", "capture: true}"}) {
    SCOPED_TRACE(run);
    Device::of(GPUPlace(0)).release_pool();  // of other jobs
    const json report =
        json::parse(report_of(model + run, "job.yaml", {{"quiet", "true"}, {"machine", machine}}));
    const auto bytes_of = [](const json& ranks, const char* key) {
      return ranks.at(0).at(key).get<int64_t>();
    };
    const json& predicted = report.at("predicted").at("ranks");
    const int64_t bound = bytes_of(predicted, "reserved_bytes");
    const int64_t reserved = bytes_of(report.at("ranks"), "reserved_bytes");
    EXPECT_GE(bound, reserved);
    EXPECT_LE(static_cast<double>(bound), 1.05 * static_cast<double>(reserved) + (2 << 20));
    EXPECT_GE(bound, bytes_of(predicted, "peak_tensor_bytes"));
    EXPECT_TRUE(predicted.at(0).at("process_bytes").is_null());
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, JobsOnGpus, ::testing::ValuesIn(kJobs),
                         [](const auto& info) { return std::string(info.param.name); });

// The emulator rounds where cuBLASLt is asked to.
TEST_F(JobsInTf32, RoundTheirProducts) {
  const json exact = run(kJobs[0], "gpu");
  const json rounded = json::parse(
      report_of(text_of(kJobs[0], "gpu"), "job.yaml", {{"quiet", "true"}, {"tf32", "true"}}));
  EXPECT_FALSE(context().tf32());
  const auto losses = rounded.at("losses").get<std::vector<double>>();
  const auto wanted = exact.at("losses").get<std::vector<double>>();
  ASSERT_EQ(losses.size(), wanted.size());
  EXPECT_NE(losses, wanted);
  for (size_t i = 0; i < losses.size(); ++i) EXPECT_NEAR(losses[i], wanted[i], 5e-3) << i;
}

// The first of three runs goes step by step in any case.
TEST(JobsAsGraphs, AreLaunchedStepByStepWhereTheKeyOrTheFlagSaysSo) {
  const char* const model =
      "place: gpu\nmodel: {kind: gpt, seq_len: 24, d_model: 32, layers: 2, heads: 4}\n";
  const std::string trains = fmt::format("{}mode: train\ndata: {{paths: [\"" AUTOPHI_SOURCE_DIR
                                         "/docs\"]}}\n"
                                         "run: {{steps: 3, capture: true, graphs: ",
                                         model);
  const std::string generates = fmt::format(
      "{}mode: generate\ngenerate: {{tokens: 3}}\nrun: {{capture: true, graphs: ", model);
  for (const std::string& job : {trains, generates}) {
    const auto graphs_of = [&](const char* graphs, const char* flag) {
      const uint64_t before = cuda_on_cpu::graph_launches();
      report_of(job + graphs + "}", "job.yaml", {{"quiet", "true"}, {"graphs", flag}});
      return cuda_on_cpu::graph_launches() - before;
    };
    EXPECT_GE(graphs_of("true", "true"), 2u) << job;
    EXPECT_EQ(graphs_of("false", "true"), 0u) << job;
    EXPECT_EQ(graphs_of("true", "false"), 0u) << job;
  }
}

class PlayedJobs : public ::testing::Test {
 protected:
  PlayedJobs() {
    FLAGS_dry_run = true;
    gflags::SetCommandLineOption("world_size", "1");
    gflags::SetCommandLineOption("rank", "0");
  }
  static RunConfig run_of(const Job& job, const std::string& place) {
    return prepare(parse_job(text_of(job, place), "job.yaml")).config.run;
  }

 private:
  const gflags::FlagSaver saver_;
};

TEST_F(PlayedJobs, TheFlagIsTheKey) {
  for (const bool given : {true, false}) {
    FLAGS_tf32 = given;
    EXPECT_EQ(run_of(kJobs[0], "gpu").tf32, given);
    FLAGS_graphs = given;
    EXPECT_EQ(run_of(kCaptured, "gpu").graphs, given);
  }
}

TEST_F(PlayedJobs, AFlagForWhichAJobHasNoUseIsRefused) {
  FLAGS_graphs = false;
  const auto refused = [](const Job& job, const char* place, const char* why) {
    EXPECT_THAT([&] { run_of(job, place); },
                ::testing::ThrowsMessage<cli::UsageError>(::testing::StartsWith(why)));
  };
  refused(kCaptured, "cpu", "--nographs requires place: gpu, and job.yaml has place: cpu");
  refused(kJobs[0], "gpu",
          "--nographs requires run.capture: true, and job.yaml has run.capture: false");
  refused(kSwapped, "gpu",
          "--nographs requires no limit memory.device, and job.yaml has memory.device: 524288");
}

}  // namespace
}  // namespace phi::job
