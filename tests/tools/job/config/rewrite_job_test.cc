// Rewritten job files are the same job but for the changed keys.
#include "tools/job/config/rewrite_job.h"

#include <gtest/gtest.h>

#include <map>
#include <random>
#include <string>

#include "tests/support/error_matchers.h"
#include "tests/tools/job/config/keys/job_key_cases.h"
#include "tools/job/config/config.h"
#include "tools/job/config/keys/resolved_values.h"

namespace phi::job {
namespace {

using Values = std::map<std::string, std::string>;

Values values_of(const std::string& text) {
  const auto values = resolved_values(parse_job(text, "job.yaml"));
  return {values.begin(), values.end()};
}

TEST(RewriteJob, ChangesKeysAndKeepsTheOthers) {
  const std::string text = R"(# A comment.
mode: train
run: {steps: 9, zero_stage: 0}   # another
data: {paths: [a b, "c, d"]}
optimizer: {schedule: {kind: cosine, warmup_steps: 3}}
)";
  EXPECT_EQ(rewrite_job(text, "job.yaml",
                        {{"run.zero_stage", "2"},
                         {"run.micro_batches", "8"},
                         {"mesh.shape", "[2, 2]"},
                         {"mesh.dims", "[dp, pp]"},
                         {"pipeline.cut", "[4, 2]"},
                         {"placements", "parameters:\n  layer*.up.weight: {dp: S0}\n"}}),
            R"(mode: train
run:
  steps: 9
  zero_stage: 2
  micro_batches: 8
data:
  paths: [a b, "c, d"]
optimizer:
  schedule:
    kind: cosine
    warmup_steps: 3
mesh:
  shape: [2, 2]
  dims: [dp, pp]
pipeline:
  cut: [4, 2]
placements:
  parameters:
    layer*.up.weight: {dp: S0}
)");
}

// The value of each key survives, whatever it is.
TEST(RewriteJob, EveryKeyIsKept) {
  for (const KeyCase& c : key_cases()) {
    Settings settings = c.job;
    settings[c.path] = c.other;
    std::vector<ChangedKey> keys;
    for (const auto& [path, value] : settings) keys.push_back({path, value});
    const std::string job = rewrite_job("", "job.yaml", keys);
    SCOPED_TRACE(job);
    EXPECT_EQ(c.seen(parse_job(job, "job.yaml")), c.other);
    EXPECT_EQ(rewrite_job(job, "job.yaml", {}), job);
    const std::string more = rewrite_job(job, "job.yaml", {{"run.steps", "11"}});
    Values before = values_of(job);
    Values after = values_of(more);
    EXPECT_EQ(after["run.steps"], "11");
    before.erase("run.steps");
    after.erase("run.steps");
    EXPECT_EQ(after, before);
  }
}

TEST(RewriteJob, TextsStayAsTheyAre) {
  std::mt19937 random(3);
  const auto below = [&](size_t limit) {
    return std::uniform_int_distribution<size_t>(0, limit - 1)(random);
  };
  const std::string letters = "a0~ \n\t:,#'\"&*!|>%@{}[]-?=\\ntruel.";
  const auto quoted = [](const std::string& text) {
    std::string out = "'";
    for (const char letter : text)
      out += letter == '\'' ? std::string("''") : std::string(1, letter);
    return out + "'";
  };
  for (int trial = 0; trial < 500; ++trial) {
    std::string prompt(below(8), ' ');
    for (char& letter : prompt) letter = letters[below(letters.size())];
    std::erase(prompt, '\n');
    const std::string job = "mode: generate\ngenerate: {prompt: " + quoted(prompt) + "}";
    SCOPED_TRACE(job);
    ASSERT_EQ(parse_job(job, "job.yaml").generate.prompt, prompt);
    const std::string out = rewrite_job(job, "job.yaml", {{"run", "{}"}});
    EXPECT_EQ(parse_job(out, "job.yaml").generate.prompt, prompt) << out;
  }
  const std::string lines = "generate: {prompt: \"a\\nb\\x07 \\xE9\"}\nmode: generate";
  EXPECT_EQ(parse_job(rewrite_job(lines, "job.yaml", {}), "job.yaml").generate.prompt,
            parse_job(lines, "job.yaml").generate.prompt);
}

// An alias is a value of its own, which a change of the other does not change.
TEST(RewriteJob, AliasesAreCopied) {
  const std::string out =
      rewrite_job("placements:\n  inputs: &rows {head: {tp: R}}\n  outputs: *rows\n", "job.yaml",
                  {{"placements.outputs", "{layer0: {tp: S1}}"}});
  EXPECT_EQ(out, "placements:\n  inputs:\n    head: {tp: R}\n  outputs:\n    layer0: {tp: S1}\n");
  const std::string same = rewrite_job(
      "placements:\n  inputs: &rows {head: {tp: R}}\n  outputs: *rows\n", "job.yaml", {});
  EXPECT_EQ(same, "placements:\n  inputs:\n    head: {tp: R}\n  outputs:\n    head: {tp: R}\n");
}

TEST(RewriteJob, WhatIsNoMapIsAnError) {
  EXPECT_THAT([] { rewrite_job("[1]", "job.yaml", {}); },
              ThrowsError(ErrorCode::kInvalidArgument, "job.yaml: a job file must be a map."));
  EXPECT_THAT(
      [] {
        rewrite_job("run: 3", "job.yaml", {{"run.steps", "1"}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "'run.steps' cannot be set: 'run' is no map."));
  EXPECT_THAT(
      [] {
        rewrite_job("", "job.yaml", {{"mesh.shape", "[1"}});
      },
      ThrowsError(ErrorCode::kInvalidArgument, "mesh.shape:1: not valid YAML"));
}

}  // namespace
}  // namespace phi::job
