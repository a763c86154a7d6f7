// Runs files of recorded calls.
#include "tools/op/check.h"

#include <fmt/format.h>
#include <yaml-cpp/yaml.h>

#include <map>
#include <set>

#include "api/call/named_call.h"
#include "api/rules/op_rule.h"
#include "api/testing/missing_kernel.h"
#include "distributed/api.h"
#include "phi/common/errors.h"
#include "phi/core/op_def.h"
#include "phi/yaml/files_of.h"
#include "phi/yaml/yaml_map.h"
#include "phi/yaml/yaml_text.h"
#include "tools/op/document.h"
#include "tools/op/recorded_file.h"

namespace phi::op_tool {
namespace {

// For each op, the ids of cases with a known difference; the file has the reasons.
using Differences = std::map<std::string, std::set<int>>;

void add_differences(const std::string& path, Differences& differences) {
  for (const auto& node : yaml::load(yaml::read_text(path, "file of differences"), path)) {
    yaml::YamlMap entry(path, node);
    const std::string op = entry.require("op").Scalar();
    add_difference(entry, differences[op]);
  }
}

Differences load_differences(const std::string& path) {
  Differences differences;
  if (path.empty()) return differences;
  for (const std::string& file : yaml::files_of({path})) add_differences(file, differences);
  return differences;
}

struct CallCount {
  int passed = 0;
  int failed = 0;
  int agree = 0;   // listed as differences
  int differ = 0;  // as listed
  int absent = 0;  // without a kernel on GPUs
};

std::string compare_run(const RecordedCase& c, const testing::CallNames& names,
                        const CheckOptions& options) {
  if (!options.mesh) return testing::compare_run(c.call, names);
  return testing::compare_distributed_run(
      c.call, names,
      {.mesh = *options.mesh, .placements = options.placements, .on_gpus = options.on_gpus});
}

// Runs the call. Nothing if GPUs have no kernel for it.
std::optional<std::string> wrong_if_there(const RecordedCase& c, const testing::CallNames& names,
                                          const CheckOptions& options) {
  try {
    return compare_run(c, names, options);
  } catch (const Error& error) {
    if (!testing::is_missing_on_gpus(error)) throw;
    return std::nullopt;
  }
}

void check_file(const RecordedFile& file, const CheckOptions& options,
                const Differences& differences, CallCount& count, std::FILE* out) {
  std::set<int> listed = file.differences;
  if (const auto more = differences.find(file.op); more != differences.end()) {
    listed.insert(more->second.begin(), more->second.end());
  }
  for (const RecordedCase& c : file.cases) {
    const std::optional<std::string> found = wrong_if_there(c, file.names, options);
    if (!found) {
      ++count.absent;
      continue;
    }
    const std::string& wrong = *found;
    if (listed.contains(c.id)) {
      ++(wrong.empty() ? count.agree : count.differ);
      continue;
    }
    ++(wrong.empty() ? count.passed : count.failed);
    if (wrong.empty()) continue;
    fmt::print(out, "FAIL {} case {} ({}:{})\n  call  {}\n  {}\n", file.op, c.id, file.path, c.line,
               testing::to_string(c.call), wrong);
  }
}

// If an operator does not exist, all of its cases fail.
void check_path(const std::string& path, const CheckOptions& options,
                const Differences& differences, CallCount& count, std::FILE* out) {
  const RecordedFile file = load_recorded(path);
  if (!file.names.is_operator && !has_call(file.op)) {
    fmt::print(out, "FAIL {} ({}): the operator is unknown\n", file.op, path);
    count.failed += static_cast<int>(file.cases.size());
    return;
  }
  check_file(file, options, differences, count, out);
}

}  // namespace

int check_recorded(const std::vector<std::string>& paths, const CheckOptions& options,
                   std::FILE* out) {
  const Differences differences = load_differences(options.differences);
  CallCount count;
  if (options.on_gpus && !options.mesh) distributed::use_gpu();
  for (const std::string& path : yaml::files_of(paths)) {
    check_path(path, options, differences, count, out);
  }
  if (count.agree + count.differ > 0) {
    fmt::print(out, "listed differences: {} differ, {} agree\n", count.differ, count.agree);
  }
  if (options.on_gpus) fmt::print(out, "without a kernel on GPUs: {}\n", count.absent);
  fmt::print(out, "{} passed, {} failed\n", count.passed, count.failed);
  return count.failed;
}

void list_operators(std::FILE* out) {
  for (const OpDef* op : ops::all()) fmt::print(out, "{}\n", signature_of(rules::find(op->name)));
}

}  // namespace phi::op_tool
