// Jobs of several ranks whose GPUs NCCL connects, run on the CPU: they lose what jobs do whose
// messages go through the host's memory, bit for bit, and what jobs on CPUs do, nearly.
#include <gflags/gflags.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <yaml-cpp/yaml.h>

#include <filesystem>

#include "distributed/comm/local/local_world.h"
#include "support/cuda_on_cpu/cuda_on_cpu.h"
#include "tools/job/config/config.h"
#include "tools/job/job.h"
#include "tools/job/run_flags.h"
#include "tools/job/setup.h"

namespace phi::job {
namespace {

using distributed::World;
using Losses = std::vector<double>;

struct ShardedJob {
  const char* name;
  int64_t ranks;
  const char* text;
  double limit = 1e-5;  // of losses, against those of CPUs
};

const ShardedJob kJobs[] = {
    {"data_parallel", 2, "mesh: {shape: [2], dims: [dp]}\nrun: {steps: 3}"},
    {"tensor_parallel", 2, "mesh: {shape: [2], dims: [tp]}\nrun: {steps: 3}"},
    {"sequence_parallel", 2,
     "mesh: {shape: [2], dims: [tp]}\nrun: {steps: 3, sequence_parallel: true}"},
    {"gpipe", 2, "mesh: {shape: [2], dims: [pp]}\nrun: {steps: 3, schedule: gpipe}"},
    {"one_forward_one_backward", 3,
     "model: {layers: 3}\nmesh: {shape: [3], dims: [pp]}\nrun: {steps: 3, schedule: 1f1b}"},
    {"interleaved", 2,
     "model: {layers: 4}\nmesh: {shape: [2], dims: [pp]}\n"
     "run: {steps: 3, schedule: interleaved, chunks: 2}"},
    {"zb_h1", 3,
     "model: {layers: 3}\nmesh: {shape: [3], dims: [pp]}\nrun: {steps: 3, schedule: zb_h1}"},
    {"zb_h2", 2, "mesh: {shape: [2], dims: [pp]}\nrun: {steps: 3, schedule: zb_h2}"},
    {"all_of_it", 8,
     "mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}\nrun: {steps: 2, zero_stage: 1}"},
    {"zero_2", 2, "mesh: {shape: [2], dims: [dp]}\nrun: {steps: 3, zero_stage: 2}"},
    {"zero_3", 2, "mesh: {shape: [2], dims: [dp]}\nrun: {steps: 3, zero_stage: 3}"},
    {"captured", 4,
     "mesh: {shape: [2, 2], dims: [dp, tp]}\nrun: {steps: 5, capture: true, zero_stage: 1}"},
    {"captured_zero_3", 2,
     "mesh: {shape: [2], dims: [dp]}\nrun: {steps: 5, capture: true, zero_stage: 3}"},
    {"captured_sequence_parallel", 2,
     "mesh: {shape: [2], dims: [tp]}\n"
     "run: {steps: 5, capture: true, sequence_parallel: true, dtype: bfloat16}",
     2e-2},
    {"captured_pipeline", 2, "mesh: {shape: [2], dims: [pp]}\nrun: {steps: 5, capture: true}"},
    {"captured_1f1b", 3,
     "model: {layers: 3}\nmesh: {shape: [3], dims: [pp]}\n"
     "run: {steps: 5, capture: true, schedule: 1f1b}"},
    {"captured_all_of_it", 8,
     "mesh: {shape: [2, 2, 2], dims: [dp, pp, tp]}\n"
     "run: {steps: 4, capture: true, zero_stage: 1}"},
    {"swapped", 2,
     "model: {layers: 6}\nmesh: {shape: [2], dims: [dp]}\nrun: {steps: 2}\n"
     "memory: {device: 512KiB, host: 64MiB}"},
    {"bfloat16", 4, "mesh: {shape: [2, 2], dims: [pp, tp]}\nrun: {steps: 3, dtype: bfloat16}",
     2e-2},
};

// What the text says goes before what all jobs have.
JobConfig config_of(const std::string& text, const std::string& settings) {
  YAML::Node job = YAML::Load(
      "mode: train\nmodel: {kind: gpt, seq_len: 16, d_model: 32, layers: 2, heads: 4}\n"
      "data: {paths: [\"" AUTOPHI_SOURCE_DIR "/docs\"]}\nrun: {global_batch: 8, micro_batches: 4}");
  for (const std::string& each : {text, settings}) {
    for (const auto& section : YAML::Load(each)) {
      if (!section.second.IsMap()) {
        job[section.first.as<std::string>()] = section.second;
        continue;
      }
      for (const auto& key : section.second)
        job[section.first.as<std::string>()][key.first.as<std::string>()] = key.second;
    }
  }
  return parse_job(YAML::Dump(job), "job.yaml");
}

// As every rank reports them.
Losses losses_of(int64_t ranks, const std::string& text, const std::string& settings) {
  Losses losses;
  distributed::run_ranks(ranks, [&](World& world) {
    Job job(prepare(config_of(text, settings)));
    const JobReport report = job.run();
    if (world.rank() == 0) losses = report.losses;
    const Place place = world.rank_context().place();
    if (place.kind == DeviceKind::GPU) {
      const bool by_nccl = settings.find("host") == settings.npos;
      EXPECT_EQ(world.device_communicator() != nullptr, by_nccl);
    }
  });
  return losses;
}

class MoreJobsBetweenGpus : public ::testing::Test {
 protected:
  MoreJobsBetweenGpus() { FLAGS_quiet = true; }

 private:
  const gflags::FlagSaver flags_;
};
class JobsBetweenGpus : public MoreJobsBetweenGpus,
                        public ::testing::WithParamInterface<ShardedJob> {};

TEST_P(JobsBetweenGpus, LoseWhatOthersDo) {
  const auto& [name, ranks, text, limit] = GetParam();
  const Losses got = losses_of(ranks, text, "place: gpu");
  EXPECT_EQ(got, losses_of(ranks, text, "place: gpu\nrun: {messages: host}"));
  const Losses on_cpus = losses_of(ranks, text, "place: cpu");
  ASSERT_EQ(got.size(), on_cpus.size());
  for (size_t i = 0; i < got.size(); ++i) EXPECT_NEAR(got[i], on_cpus[i], limit) << i;
}

// Of all ranks: a step of training is one graph on each, from the third on.
TEST_F(MoreJobsBetweenGpus, LaunchEachCapturedStepAsOneGraph) {
  for (const char* text : {"mesh: {shape: [2], dims: [dp]}\nrun: {steps: 6, capture: true}",
                           "mesh: {shape: [2], dims: [tp]}\nrun: {steps: 6, capture: true}",
                           "mesh: {shape: [2], dims: [pp]}\nrun: {steps: 6, capture: true}"}) {
    const uint64_t before = cuda_on_cpu::graph_launches();
    losses_of(2, text, "place: gpu");
    EXPECT_EQ(cuda_on_cpu::graph_launches() - before, 2u * 4u) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Kinds, JobsBetweenGpus, ::testing::ValuesIn(kJobs),
                         [](const auto& info) { return std::string(info.param.name); });

// NCCL's own sums are near.
TEST_F(MoreJobsBetweenGpus, ReduceAsTheyAreTold) {
  const std::string text = "mesh: {shape: [4], dims: [dp]}\nrun: {steps: 3}";
  const Losses exact = losses_of(4, text, "place: gpu");
  const Losses fast = losses_of(4, text, "place: gpu\nrun: {reduction: fast}");
  ASSERT_EQ(fast.size(), exact.size());
  for (size_t i = 0; i < fast.size(); ++i) EXPECT_NEAR(fast[i], exact[i], 1e-5) << i;
}

TEST_F(MoreJobsBetweenGpus, ResumeOnAnotherMesh) {
  const std::string folder = ::testing::TempDir() + "autophi_nccl_resume";
  std::filesystem::remove_all(folder);
  const std::string kept = "\ncheckpoint: {dir: " + folder + ", every: 2}";
  const std::string two = "mesh: {shape: [2], dims: [dp]}\nrun: {zero_stage: 1, steps: ";
  const std::string four = "mesh: {shape: [2, 2], dims: [pp, tp]}\nrun: {steps: ";
  const Losses whole = losses_of(2, two + "4}", "place: gpu");
  losses_of(2, two + "2}" + kept, "place: gpu");
  FLAGS_resume = true;
  const Losses rest = losses_of(4, four + "4}" + kept, "place: gpu");
  std::filesystem::remove_all(folder);
  ASSERT_EQ(whole.size(), 4u);
  ASSERT_EQ(rest.size(), 2u);
  for (size_t i = 0; i < 2; ++i) EXPECT_NEAR(rest[i], whole[i + 2], 1e-5) << i;
}

}  // namespace
}  // namespace phi::job
