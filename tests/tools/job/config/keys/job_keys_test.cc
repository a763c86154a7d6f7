// Every key of a job file: its value arrives, its default is accepted by all jobs, and another
// value is an error in a job that does not read it.
#include "tools/job/config/keys/job_keys.h"

#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>
#include <map>
#include <set>
#include <sstream>

#include "support/error_matchers.h"
#include "tests/tools/job/config/keys/job_key_cases.h"
#include "tools/job/config/keys/resolved_values.h"

namespace phi::job {
namespace {

// A key a line, sections indented; a section is one run of keys, as the map is sorted.
std::string job_text(const Settings& settings) {
  std::string text;
  std::vector<std::string> open;
  for (const auto& [path, value] : settings) {
    std::vector<std::string> parts;
    std::istringstream in(path);
    for (std::string part; std::getline(in, part, '.');) parts.push_back(part);
    size_t same = 0;
    while (same < open.size() && same + 1 < parts.size() && open[same] == parts[same]) ++same;
    open.resize(same);
    for (size_t i = same; i < parts.size(); ++i) {
      const bool is_key = i + 1 == parts.size();
      text += std::string(2 * i, ' ') + parts[i] + ":" + (is_key ? " " + value : "") + "\n";
      if (!is_key) open.push_back(parts[i]);
    }
  }
  return text;
}

int line_of(const std::string& text, const std::string& path) {
  const std::string name = path.substr(path.rfind('.') + 1) + ": ";
  std::istringstream in(text);
  int line = 0;
  for (std::string each; std::getline(in, each);) {
    ++line;
    if (each.substr(each.find_first_not_of(' ')).starts_with(name)) return line;
  }
  return 0;
}

JobConfig settled(const std::string& text) {
  JobConfig config = parse_job(text, "job.yaml");
  std::string note;
  resolve_mesh(&config, config.mesh.num_ranks(), "", &note);
  return config;
}

Settings with(Settings job, const std::string& path, const std::string& value) {
  job[path] = value;
  return job;
}

TEST(JobKeys, EachHasACase) {
  std::set<std::string> keys;
  std::set<std::string> tested;
  for (const JobKey& key : job_keys()) keys.emplace(key.path);
  for (const char* section : {"model", "mesh", "data", "run", "optimizer", "checkpoint", "elastic",
                              "memory", "generate", "pipeline", "placements", "plan"}) {
    keys.erase(section);
  }
  for (const KeyCase& c : key_cases()) tested.emplace(c.path);
  EXPECT_EQ(tested, keys);
}

TEST(JobKeys, AValueArrives) {
  for (const KeyCase& c : key_cases()) {
    const std::string text = job_text(with(c.job, c.path, c.other));
    SCOPED_TRACE(text);
    EXPECT_NO_THROW({
      const JobConfig config = settled(text);
      EXPECT_EQ(c.seen(config), c.other);
      EXPECT_TRUE(config.unread.empty());
    });
  }
}

// A row for each key, which the value of its own key alone changes; so no key can be forgotten
// where ranks compare what they are to run.
TEST(JobKeys, ASettledValueIsThatOfItsKey) {
  const auto value_of = [](const JobConfig& config, const std::string& path) {
    for (const auto& [key, value] : resolved_values(config)) {
      if (key == path) return value;
    }
    return "no value of " + path;
  };
  for (const KeyCase& c : key_cases()) {
    if (is_section(c.path)) continue;  // optimizer.schedule, which is optimizer.schedule.kind
    if (c.path == std::string("model.image_size")) continue;  // changes with data.image_size only
    const std::string text = job_text(with(c.job, c.path, c.other));
    SCOPED_TRACE(text);
    const JobConfig changed = settled(text);
    EXPECT_EQ(value_of(changed, c.path), c.other);
    // Where the default is no job, or not one with the rest of the case.
    static const std::map<std::string, std::string> kOthers = {
        {"mesh.shape", "[3, 2]"}, {"mesh.dims", "[pp, tp]"}, {"run.chunks", "3"}};
    const auto other = kOthers.find(c.path);
    const std::string first = other == kOthers.end() ? c.by_default : other->second;
    const std::string before = job_text(with(c.job, c.path, first));
    const auto values = resolved_values(settled(before));
    const auto changed_values = resolved_values(changed);
    const std::map<std::string, std::string> after(changed_values.begin(), changed_values.end());
    for (const auto& [key, value] : values) {
      const auto now = after.find(key);
      const bool is_other = now == after.end() || now->second != value;
      // Another kind has other keys; heads of keys are by default as many as heads; limits capture
      // the step.
      const bool follows = (c.path == std::string("model.kind") && key.starts_with("model.")) ||
                           (key == "model.kv_heads" && c.path == std::string("model.heads")) ||
                           (key == "run.capture" && c.path == std::string("memory.device"));
      if (follows) continue;
      EXPECT_EQ(is_other, key == c.path) << key;
    }
  }
}

TEST(JobKeys, AnotherValueThatIsNotReadIsAnError) {
  for (const KeyCase& c : key_cases()) {
    for (const Unread& unread : c.unread) {
      const std::string text = job_text(with(unread.job, c.path, c.other));
      SCOPED_TRACE(text);
      EXPECT_THAT([&] { settled(text); },
                  ThrowsError(ErrorCode::kInvalidArgument,
                              fmt::format("job.yaml:{}: key '{}': {}", line_of(text, c.path),
                                          c.path, unread.words)));
    }
  }
}

TEST(JobKeys, TheDefaultIsAcceptedByAnyJob) {
  for (const KeyCase& c : key_cases()) {
    for (const Unread& unread : c.unread) {
      const std::string text = job_text(with(unread.job, c.path, c.by_default));
      SCOPED_TRACE(text);
      EXPECT_NO_THROW(settled(text));
    }
  }
}

TEST(JobKeys, OnlyKeysWithReadersAreEverUnread) {
  for (const KeyCase& c : key_cases()) {
    const std::vector<JobKey> keys = job_keys();
    const auto key = std::find_if(keys.begin(), keys.end(),
                                  [&](const JobKey& each) { return each.path == c.path; });
    ASSERT_NE(key, keys.end()) << c.path;
    EXPECT_EQ(c.unread.size(), key->conditions.size()) << c.path;
  }
}

// Where one of two things is enough.
TEST(JobKeys, OtherReadersToo) {
  EXPECT_NO_THROW(settled(job_text(on_mesh("[2]", "[dp]", {{"run.zero_stage", "3"}}))));
  EXPECT_NO_THROW(settled(job_text({{"run.schedule", "interleaved"}, {"run.chunks", "2"}})));
  EXPECT_NO_THROW(
      settled(job_text({{"weights", "w"}, {"model.dropout", "0.5"}, {"model.seed", "7"}})));
}

TEST(JobKeys, TheFirstOfSeveralIsTold) {
  EXPECT_THAT(
      [] { settled("run: {steps: 2}\noptimizer:\n  lr: 1.0\ngenerate:\n  tokens: 3"); },
      ThrowsError(ErrorCode::kInvalidArgument,
                  "job.yaml:3: key 'optimizer.lr': applies only to a job with mode: train, and "
                  "this job has mode: forward; remove the key, or change that."));
}

// What the file's own job reads stays accepted when a command runs another one, and the other way.
TEST(JobKeys, WhatACommandOverridesDecidesToo) {
  const auto run = [](const std::string& text, const char* mode, int64_t ranks, const char* mesh) {
    JobConfig config = parse_job(text, "job.yaml");
    if (*mode != '\0') config.mode = mode;
    std::string note;
    resolve_mesh(&config, ranks, mesh, &note);
  };
  EXPECT_NO_THROW(run("mode: train\noptimizer: {lr: 1.0}", "forward", 1, ""));
  EXPECT_NO_THROW(run("mode: forward\noptimizer: {lr: 1.0}", "train", 1, ""));
  const std::string split = "run: {sequence_parallel: true}\n";
  EXPECT_NO_THROW(run(split + "mesh: {shape: [2], dims: [tp]}", "", 4, "dp=4"));
  EXPECT_NO_THROW(run(split + "mesh: {shape: [4]}", "", 2, "tp=2"));
  EXPECT_NO_THROW(run(split, "", 2, "tp=2"));
  EXPECT_THAT([&] { run(split, "", 2, "pp=2"); },
              ThrowsError(ErrorCode::kInvalidArgument, "this job has the mesh pp=2"));
  EXPECT_THAT([&] { run(split, "", 2, ""); },
              ThrowsError(ErrorCode::kInvalidArgument, "this job has the mesh dp=2"));
  // One rank stands for any mesh.
  EXPECT_NO_THROW(run(split, "", 1, ""));
  EXPECT_NO_THROW(run(split + "mesh: {shape: [2], dims: [tp]}", "", 1, ""));
}

// The text between the first "```yaml" behind `heading` in docs/running.md and its end.
std::string documented_job(const std::string& heading) {
  std::ifstream in(AUTOPHI_SOURCE_DIR "/docs/running.md");
  const std::string text{std::istreambuf_iterator<char>(in), {}};
  const std::string fence = "```yaml\n";
  const size_t begin = text.find(fence, text.find(heading)) + fence.size();
  return text.substr(begin, text.find("```", begin) - begin);
}

// Keys of other kinds of models than the default, and of their data.
bool is_of_another_kind(const KeyCase& c) { return c.job.contains("model.kind"); }

TEST(JobKeys, TheDocumentedDefaultsAreThoseOfAllKeys) {
  const JobConfig documented = parse_job(documented_job("## The job file"), "running.md");
  const JobConfig defaults = parse_job("", "job.yaml");
  for (const KeyCase& c : key_cases()) {
    const std::string path = c.path;
    if (is_of_another_kind(c) && path.starts_with("model.")) continue;
    EXPECT_TRUE(documented.lines.contains(path)) << path;
    // The mesh by default is that of all processes along dp.
    if (path.starts_with("mesh.")) continue;
    EXPECT_EQ(c.seen(documented), c.seen(defaults)) << path;
  }
}

// The documented keys of a kind are all that it has, with their defaults.
TEST(JobKeys, TheDocumentedKindsHaveTheDefaults) {
  const std::string kinds = documented_job("### Model kinds");
  for (const char* kind : {"gpt", "llama", "resnet", "vit"}) {
    const size_t begin = kinds.find(std::string("model: {kind: ") + kind);
    ASSERT_NE(begin, std::string::npos) << kind;
    const bool of_images = nn::models::model_kind(kind).samples == nn::models::SampleKind::kImages;
    const std::string data = of_images ? "\ndata: {kind: images, paths: [a]}" : "";
    const std::string text = kinds.substr(begin, kinds.find('}', begin) - begin + 1);
    const JobConfig documented = parse_job(text + data, "running.md");
    const JobConfig defaults =
        parse_job(std::string("model: {kind: ") + kind + "}" + data, "job.yaml");
    EXPECT_EQ(documented.model.values, defaults.model.values) << kind;
    for (const auto& key : nn::models::model_kind(kind).keys) {
      EXPECT_TRUE(documented.lines.contains("model." + key.name)) << kind << " " << key.name;
    }
  }
}

}  // namespace
}  // namespace phi::job
