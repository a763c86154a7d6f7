// The flags of `autophi run`, and the conditions under which a job reads them.
#include "tools/job/run_flags.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <string_view>

#include "tools/cli/command_line.h"
#include "tools/job/dry_run.h"

DEFINE_string(report, "", "write a report of the job to this file, as JSON");
DEFINE_string(metrics, "", "append a line of JSON for each step to this file");
DEFINE_string(tensorboard, "", "write numbers of each step to event files in this folder");
DEFINE_string(status_file, "", "write the number of the current step to this file");
DEFINE_string(trace, "", "write a trace of all ranks to this file, for ui.perfetto.dev");
DEFINE_string(trace_steps, "", "FIRST:LAST: trace these steps only");
DEFINE_string(explain, "", "run one step, and explain its calls and reshards; to this file");
DEFINE_string(check, "",
              "ops: repeat every distributed call in one process and compare; numbers: "
              "name the first number that is not finite");
DEFINE_double(deadline_s, 60.0, "end the job if a rank waits longer than this for another");
DEFINE_bool(deferred_transfer, true,
            "data stays on its tier until the shards that a rank needs are known; false: it is "
            "copied to the device immediately and unsharded");
DEFINE_bool(resume, false, "resume from the newest checkpoint in the job's checkpoint.dir");
DEFINE_bool(strict_collectives, false,
            "ranks compare every call of a group before it runs, to find where they differ");
DEFINE_bool(quiet, false, "print errors only, and the text in mode generate");
DEFINE_bool(tf32, false, "float32 matmuls on GPUs use TF32 (run.tf32)");
DEFINE_bool(graphs, true,
            "steps of a captured job on GPUs are launched as CUDA graphs; false: one by one "
            "(run.graphs)");
DEFINE_string(machine, "", "predict a step on the machine of this file or name (docs/predict.md)");
DEFINE_string(inject_error, "", "for tests: RANK:STEP at which a rank throws");
DEFINE_string(inject_hang, "", "for tests: RANK:STEP at which a rank hangs");

namespace phi::job {
namespace {

constexpr double kMaxDeadlineS = 7 * 24 * 3600.0;

}  // namespace

const std::vector<std::string>& run_flags() {
  static const std::vector<std::string> flags = {"report",
                                                 "metrics",
                                                 "tensorboard",
                                                 "python",
                                                 "status_file",
                                                 "trace",
                                                 "trace_steps",
                                                 "explain",
                                                 "check",
                                                 "deadline_s",
                                                 "deferred_transfer",
                                                 "resume",
                                                 "strict_collectives",
                                                 "quiet",
                                                 "tf32",
                                                 "graphs",
                                                 "machine",
                                                 "device_limit",
                                                 "mesh",
                                                 "inject_error",
                                                 "inject_hang",
                                                 "dry_run",
                                                 "world_size",
                                                 "rank"};
  return flags;
}

const std::vector<std::string>& run_flags_alone() {
  static const std::vector<std::string> flags = {"explain"};
  return flags;
}

std::chrono::milliseconds start_deadline() {
  constexpr double kLeastS = 20;
  const bool is_given = !gflags::GetCommandLineFlagInfoOrDie("deadline_s").is_default;
  if (!is_given || !(FLAGS_deadline_s > 0)) return {};  // check_run_flags reports invalid values
  const double seconds = std::clamp(FLAGS_deadline_s, kLeastS, kMaxDeadlineS);
  return std::chrono::milliseconds(static_cast<int64_t>(seconds * 1000));
}

void check_run_flags(bool generates) {
  if (!(FLAGS_deadline_s > 0 && FLAGS_deadline_s <= kMaxDeadlineS)) {
    throw cli::UsageError(
        fmt::format("--deadline_s expects seconds, more than 0 and at most {}.", kMaxDeadlineS));
  }
  if (!FLAGS_check.empty() && FLAGS_check != "ops" && FLAGS_check != "numbers") {
    throw cli::UsageError(
        fmt::format("--check={} is neither ops nor numbers; pass one of them.", FLAGS_check));
  }
  // Flags without a row are read by every job.
  constexpr std::string_view kReal =
      "a real run; a dry run has no times, no losses and no other ranks";
  cli::check_flags_are_read(std::array{
      cli::FlagUse{"world_size", FLAGS_dry_run,
                   "--dry_run; without it mpirun sets the number of ranks"},
      cli::FlagUse{"rank", FLAGS_dry_run, "--dry_run; without it mpirun sets the number of ranks"},
      cli::FlagUse{"metrics", !FLAGS_dry_run, kReal},
      cli::FlagUse{"metrics", !generates, "steps; mode generate has none"},
      cli::FlagUse{"tensorboard", !FLAGS_dry_run, kReal},
      cli::FlagUse{"tensorboard", !generates, "steps; mode generate has none"},
      cli::FlagUse{"python", !FLAGS_tensorboard.empty(), "--tensorboard=DIR"},
      cli::FlagUse{"status_file", !FLAGS_dry_run, kReal},
      cli::FlagUse{"trace", !FLAGS_dry_run, kReal},
      cli::FlagUse{"trace_steps", !FLAGS_trace.empty(), "--trace=FILE"},
      cli::FlagUse{"deadline_s", !FLAGS_dry_run, kReal},
      cli::FlagUse{"strict_collectives", !FLAGS_dry_run, kReal},
      cli::FlagUse{"deferred_transfer", !FLAGS_dry_run, kReal},
      cli::FlagUse{"device_limit", !FLAGS_dry_run, kReal},
      cli::FlagUse{"resume", !FLAGS_dry_run, kReal},
      cli::FlagUse{"resume", FLAGS_explain.empty(), "all steps of a job; --explain runs the first"},
      cli::FlagUse{"graphs", FLAGS_explain.empty() && FLAGS_check.empty(),
                   "captured steps; --explain and --check run them call by call"},
      cli::FlagUse{"explain", !generates, "steps; mode generate has none"},
      cli::FlagUse{"machine", !generates, "steps; mode generate has none"},
      cli::FlagUse{"check", !FLAGS_dry_run, kReal},
      cli::FlagUse{"check", !generates, "steps; mode generate has none"},
  });
}

}  // namespace phi::job
