// Job files for short runs, and the times in their reports.
#include "tools/job/measure_plans.h"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>
#include <span>
#include <sstream>
#include <thread>
#include <utility>

#include "distributed/supervise/child_process.h"
#include "phi/common/errors.h"
#include "phi/yaml/yaml_text.h"
#include "tools/job/config/job_paths.h"
#include "tools/job/config/rewrite_job.h"

namespace phi::job {
namespace {

namespace fs = std::filesystem;
using distributed::supervise::ChildProcess;
using distributed::supervise::MpirunOptions;
using planning::PlannedLayout;

// Plans run in turns, so that a machine that is slow for a while does not order them. The first
// step of a run allocates and fills caches, and does not count.
constexpr int kRounds = 2;
constexpr int64_t kStepsOfRun = 6;
// Lines of a failed run that are shown, its last ones.
constexpr size_t kMostLines = 20;

class TemporaryFolder {
 public:
  TemporaryFolder() : path_((fs::temp_directory_path() / "autophi_plan_XXXXXX").string()) {
    PHI_CHECK(mkdtemp(path_.data()) != nullptr,
              errors::Unavailable("cannot make a temporary folder '{}': {}. Set TMPDIR to a folder "
                                  "for the files of --measure.",
                                  path_, std::strerror(errno)));
  }
  ~TemporaryFolder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;

  std::string file(const char* name) const { return (fs::path(path_) / name).string(); }

 private:
  std::string path_;
};

// The paths as a YAML list, independent of the folder of the job file. Those of indexed files name
// them without an ending.
std::string absolute_paths(const JobConfig& config, const std::vector<std::string>& paths) {
  std::vector<std::string> out;
  for (const std::string& path : paths) {
    const std::array<fs::path, 2> files = {path, path + ".idx"};
    std::error_code ignored;
    const bool is_here =
        std::ranges::any_of(files, [&](const fs::path& file) { return fs::exists(file, ignored); });
    out.push_back(is_here ? fs::absolute(path).string() : (base_of(config) / path).string());
  }
  return nlohmann::json(out).dump();
}

// The planned job, short, and without what it saves.
std::string job_to_measure(const PlannedJob& job, const PlannedLayout& plan) {
  const JobConfig& config = job.config();
  std::vector<ChangedKey> changes = job.keys_of(plan.layout);
  changes.push_back({"run.steps", std::to_string(kStepsOfRun)});
  changes.push_back({"run.save", "\"\""});
  if (config.run.on_nonfinite == NonFinitePolicy::kRollBack)
    changes.push_back({"run.on_nonfinite", "stop"});
  for (const char* section : {"checkpoint", "elastic", "plan"}) changes.push_back({section, "{}"});
  changes.push_back({"data.paths", absolute_paths(config, config.data.paths)});
  if (!config.ops.empty()) changes.push_back({"ops", absolute_paths(config, config.ops)});
  if (!config.models.empty()) changes.push_back({"models", absolute_paths(config, config.models)});
  return rewrite_job(yaml::read_text(config.file, "job file"), config.file, changes);
}

// Appends what can be read at once.
void drain(int descriptor, std::string* text) {
  std::array<char, 4096> buffer{};
  for (;;) {
    const ssize_t got = read(descriptor, buffer.data(), buffer.size());
    if (got <= 0) return;
    text->append(buffer.data(), static_cast<size_t>(got));
  }
}

std::string last_lines(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream in(text);
  for (std::string line; std::getline(in, line);) lines.push_back("\n    " + line);
  std::string out;
  for (size_t i = lines.size() - std::min(lines.size(), kMostLines); i < lines.size(); ++i)
    out += lines[i];
  return out;
}

// How a command failed; empty if it did not.
std::string fault_of_run(const std::vector<std::string>& command) {
  constexpr auto kPause = std::chrono::milliseconds(20);
  ChildProcess child(command, {.on_parent_death = SIGTERM, .keeps_errors = true, .is_mute = true});
  std::string output;
  while (!child.poll()) {
    drain(child.errors(), &output);
    std::this_thread::sleep_for(kPause);
  }
  drain(child.errors(), &output);
  if (child.status() == 0) return "";
  return distributed::supervise::describe_exit(child.status()) + last_lines(output);
}

// Of the steps after the first.
std::vector<double> seconds_in_report(const std::string& path) {
  const auto report = nlohmann::json::parse(std::ifstream(path));
  auto seconds = report.at("step_seconds").get<std::vector<double>>();
  seconds.erase(seconds.begin());
  return seconds;
}

double median_of(std::vector<double> seconds) {
  const auto middle = seconds.begin() + static_cast<std::ptrdiff_t>(seconds.size() / 2);
  std::ranges::nth_element(seconds, middle);
  return *middle;
}

struct PlanRuns {
  MeasuredPlan result;
  std::vector<double> seconds;  // of all runs
};

void run_once(const PlannedJob& job, int64_t devices, const MpirunOptions& mpirun, PlanRuns* runs) {
  const TemporaryFolder folder;
  const std::string file = folder.file("job.yaml");
  const std::string report = folder.file("report.json");
  std::ofstream(file) << job_to_measure(job, runs->result.plan);
  const std::vector<std::string> run = {fs::read_symlink("/proc/self/exe").string(), "run", file,
                                        "--quiet", "--report=" + report};
  runs->result.fault = fault_of_run(mpirun_command(mpirun, devices, run));
  if (!runs->result.fault.empty()) return;
  std::ranges::copy(seconds_in_report(report), std::back_inserter(runs->seconds));
}

std::vector<MeasuredPlan> run_in_turns(const PlannedJob& job, int64_t devices,
                                       const MpirunOptions& mpirun,
                                       std::span<const PlannedLayout> plans) {
  std::vector<PlanRuns> all;
  for (const PlannedLayout& plan : plans) all.push_back({{plan}, {}});
  for (int round = 0; round < kRounds; ++round) {
    for (PlanRuns& runs : all) {
      if (runs.result.fault.empty()) run_once(job, devices, mpirun, &runs);
    }
  }
  std::vector<MeasuredPlan> out;
  for (PlanRuns& runs : all) {
    if (runs.result.fault.empty()) runs.result.plan.measured_seconds = median_of(runs.seconds);
    out.push_back(std::move(runs.result));
  }
  return out;
}

}  // namespace

std::vector<MeasuredPlan> measure_plans(const PlannedJob& job, int64_t devices, size_t count,
                                        const MpirunOptions& mpirun,
                                        std::vector<PlannedLayout>* plans) {
  count = std::min(count, plans->size());
  std::vector<MeasuredPlan> measured =
      run_in_turns(job, devices, mpirun, std::span(*plans).first(count));
  const auto has_failed = [](const MeasuredPlan& each) { return !each.fault.empty(); };
  PHI_CHECK(
      !std::ranges::all_of(measured, has_failed),
      errors::Unavailable("--measure: {} could not be run with {} processes on this machine; "
                          "plan without --measure, or for devices that it has. The run of "
                          "{} ended with {}",
                          count == 1 ? "the plan" : fmt::format("the {} plans", count), devices,
                          to_string(measured.front().plan.layout), measured.front().fault));
  std::ranges::stable_sort(measured, {}, [&](const MeasuredPlan& each) {
    return std::pair(has_failed(each), each.plan.measured_seconds);
  });
  const auto failed = std::ranges::find_if(measured, has_failed);
  std::vector<PlannedLayout> ordered;
  for (auto each = measured.begin(); each != failed; ++each) ordered.push_back(each->plan);
  ordered.insert(ordered.end(), plans->begin() + static_cast<std::ptrdiff_t>(count), plans->end());
  for (auto each = failed; each != measured.end(); ++each) ordered.push_back(each->plan);
  *plans = std::move(ordered);
  return measured;
}

std::string table(const std::vector<MeasuredPlan>& measured) {
  std::string out = fmt::format("measured on this machine (median of {} steps), fastest first:\n",
                                kRounds * (kStepsOfRun - 1));
  for (const auto& [plan, fault] : measured) {
    const double predicted = plan.predicted->step_seconds;
    const std::string result =
        fault.empty() ? fmt::format("measured {:.4g} s ({:+.1f} %)", plan.measured_seconds,
                                    100 * (plan.measured_seconds / predicted - 1))
                      : "not measured: " + fault;
    out += fmt::format("  {}: predicted {:.4g} s, {}\n", to_string(plan.layout), predicted, result);
  }
  return out;
}

}  // namespace phi::job
