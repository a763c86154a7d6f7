// Writes the keys of the layout first, because the key `plan` has values of the whole job.
#include "tools/job/planned_job_text.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include "phi/yaml/yaml_text.h"
#include "tools/job/check_plan.h"
#include "tools/job/config/config.h"
#include "tools/job/config/rewrite_job.h"

namespace phi::job {
namespace {

std::string to_yaml(const PlanConfig& plan) {
  YAML::Node of(YAML::NodeType::Map);
  for (const auto& [key, value] : plan.of) of[key] = value;
  YAML::Node node(YAML::NodeType::Map);
  node["devices"] = plan.devices;
  node["machine"] = plan.machine;
  node["machine_content"] = plan.machine_content;
  node["step_seconds"] = fmt::format("{:.6g}", plan.step_seconds);
  node["peak_bytes"] = plan.peak_bytes;
  node["of"] = of;
  return YAML::Dump(node);
}

}  // namespace

std::string planned_job_text(const PlannedJob& job, const planning::PlannedLayout& plan,
                             const distributed::simulator::MachineModel& machine,
                             const std::string& machine_name) {
  const std::string& file = job.file();
  const std::string text =
      rewrite_job(yaml::read_text(file, "job file"), file, job.keys_of(plan.layout));
  const JobConfig config = parse_job(text, file);
  const PlanConfig key{.devices = config.mesh.num_ranks(),
                       .machine = machine_name,
                       .machine_content = content_of(machine),
                       .step_seconds = plan.predicted->step_seconds,
                       .peak_bytes = plan.peak_bytes,
                       .of = planned_values(config)};
  return rewrite_job(text, file, {{"plan", to_yaml(key)}});
}

}  // namespace phi::job
