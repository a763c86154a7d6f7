// Adjusts jobs for --explain and --check, and writes explanations.
#include "tools/job/explained_step.h"

#include <fmt/format.h>

#include <iostream>

#include "api/explain/check_numbers.h"
#include "api/explain/check_ops.h"
#include "distributed/comm/world.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/output/atomic_file.h"

namespace phi::job {

namespace {

void take_call_by_call(const char* flag, const char* remedy, JobConfig* config) {
  if (config->memory.is_limited()) {
    throw cli::UsageError(
        fmt::format("{} runs a step call by call, and memory limits need a captured program; "
                    "remove memory from the job{}.",
                    flag, remedy));
  }
  config->run.capture = false;
}

}  // namespace

void adjust_for_check(JobConfig* config) { take_call_by_call("--check", "", config); }

void adjust_for_explain(bool is_dry, JobConfig* config) {
  // A dry run never runs the captured program, and its memory limits need `capture`.
  if (!is_dry) {
    take_call_by_call("--explain", ", or add --dry_run with --world_size and --rank", config);
  }
  config->run.steps = 1;
  config->run.save.clear();
  config->checkpoint.dir.clear();
}

std::string explain_step(const std::function<void()>& step, const TensorNames& names,
                         const std::string& path) {
  const Explanation own = explain(step, names);
  const std::string text =
      path.ends_with(".json") ? explain_all_ranks_as_json(own) : explain_all_ranks(own);
  const distributed::World& world = distributed::World::current();
  if (world.transfers_data() && world.rank() != 0) return "";
  if (path == cli::kNoValue) {
    std::cout << text << std::flush;
    return "";
  }
  try {
    AtomicFile file(path, "explanation");
    file.write(text);
    file.finish();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

int64_t checked_step(const std::string& check, int64_t number, const std::function<void()>& step,
                     const TensorNames& names) {
  if (check == "ops") return check_ops(step, names);
  check_numbers(step, number);
  return 0;
}

}  // namespace phi::job
