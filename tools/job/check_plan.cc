// Compares values of keys, as resolved_values() has them, with those of the plan.
#include "tools/job/check_plan.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <span>
#include <vector>

#include "distributed/simulator/machine_yaml.h"
#include "phi/common/sampled_hash.h"
#include "tools/job/config/keys/resolved_values.h"
#include "tools/job/config/keys/step_keys.h"
#include "tools/job/run_flags.h"

namespace phi::job {
namespace {

using distributed::simulator::MachineModel;
using KeyValues = std::map<std::string, std::string>;

// Of a job without a file. Keys of `model` and `mesh` have none, so that a plan has them all.
const KeyValues& values_by_default() {
  static const KeyValues values = [] {
    const auto all = resolved_values(JobConfig{});
    KeyValues out(all.begin(), all.end());
    std::erase_if(out, [](const auto& entry) { return entry.first.starts_with("mesh."); });
    return out;
  }();
  return values;
}

// "run.dtype was float32 and is bfloat16" for each key that the plan knows, of the layout or not.
std::vector<std::string> changes_since_plan(const JobConfig& config, bool of_layout) {
  std::vector<std::string> changes;
  const KeyValues& planned = config.plan.of;
  if (planned.empty()) return changes;
  for (const auto& [key, value] : resolved_values(config)) {
    if (!changes_steps(key) || is_layout_key(key) != of_layout) continue;
    auto before = planned.find(key);
    if (before == planned.end()) {
      before = values_by_default().find(key);
      if (before == values_by_default().end()) continue;
    }
    if (before->second == value) continue;
    changes.push_back(fmt::format("{} was {} and is {}", key, before->second, value));
  }
  return changes;
}

// "plan again with `autophi plan job.yaml --devices=4 --machine=h100_80g`"
std::string plan_again(const JobConfig& config, int64_t devices, const std::string& machine) {
  return fmt::format("plan again with `autophi plan {} --devices={} --machine={}`", config.file,
                     devices, machine.empty() ? "FILE" : machine);
}

void check_devices(const JobConfig& config, int64_t ranks) {
  const PlanConfig& plan = config.plan;
  if (plan.devices == 0 || plan.devices == ranks || config.elastic.is_elastic()) return;
  throw config.wrong(
      {"plan.devices"},
      fmt::format("the job is planned for {} device{}, and this run has {} rank{}. Start {} "
                  "process{}, {}, or remove the key 'plan'.",
                  plan.devices, plan.devices == 1 ? "" : "s", ranks, ranks == 1 ? "" : "s",
                  plan.devices, plan.devices == 1 ? "" : "es",
                  plan_again(config, ranks, plan.machine)));
}

}  // namespace

KeyValues planned_values(const JobConfig& config) {
  KeyValues values;
  for (const auto& [key, value] : resolved_values(config)) {
    const auto by_default = values_by_default().find(key);
    const bool is_default = by_default != values_by_default().end() && by_default->second == value;
    if (changes_steps(key) && !is_default) values.emplace(key, value);
  }
  return values;
}

std::string content_of(const MachineModel& machine) {
  const std::string text = to_yaml(machine);
  return fmt::format("{:016x}", hash_bytes(0, std::as_bytes(std::span(text))));
}

void check_plan(const JobConfig& config, int64_t ranks) {
  check_devices(config, ranks);
  const std::vector<std::string> changes = changes_since_plan(config, /*of_layout=*/false);
  if (changes.empty()) return;
  throw config.wrong(
      {"plan.of"},
      fmt::format("the job has changed since it was planned: {}. Restore {}, {}, or remove the key "
                  "'plan'.",
                  fmt::join(changes, ", "), changes.size() == 1 ? "it" : "them",
                  plan_again(config, ranks, config.plan.machine)));
}

std::string note_changed_layout(JobConfig* config) {
  const std::vector<std::string> changes = changes_since_plan(*config, /*of_layout=*/true);
  if (changes.empty()) return "";
  config->plan.step_seconds = 0;
  config->plan.peak_bytes = 0;
  return fmt::format(
      "note: this is not the planned layout: {}. The predictions of the key 'plan' are ignored; "
      "remove it to keep this layout, or {}.",
      fmt::join(changes, ", "),
      plan_again(*config, config->mesh.num_ranks(), config->plan.machine));
}

void check_plan_machine(const JobConfig& config, const MachineModel& machine) {
  const PlanConfig& plan = config.plan;
  if (plan.machine_content.empty() || plan.machine_content == content_of(machine)) return;
  const std::string what =
      plan.machine == FLAGS_machine
          ? "has changed since the job was planned for it"
          : fmt::format("is another machine than {}, for which the job is planned",
                        plan.machine.empty() ? "that of the plan" : plan.machine);
  throw config.wrong(
      {"plan.machine_content"},
      fmt::format("--machine={} {}. Pass the machine of the plan, {}, or remove the "
                  "key 'plan'.",
                  FLAGS_machine, what, plan_again(config, config.mesh.num_ranks(), FLAGS_machine)));
}

}  // namespace phi::job
