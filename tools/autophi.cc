// The autophi command: chooses the subcommand, and turns what nobody caught into one message.
//
//   autophi run JOB.yaml | export JOB.yaml | data ... | weights ... | ckpt ... | spmd ... |
//   reshard ... | schedule ... | --help | --version
#include <gflags/gflags.h>
#include <glog/logging.h>

#include <cstdio>
#include <exception>
#include <string>
#include <string_view>
#include <vector>

#include "tools/ckpt_command.h"
#include "tools/cli/command_line.h"
#include "tools/data_command.h"
#include "tools/job/export_command.h"
#include "tools/job/run_command.h"
#include "tools/reshard_command.h"
#include "tools/schedule_command.h"
#include "tools/spmd_command.h"
#include "tools/weights_command.h"

namespace {

using phi::cli::kUsageStatus;

constexpr const char* kHelp =
    "autophi: auto-parallel tensors on MPI processes.\n"
    "\n"
    "  autophi run JOB.yaml      run a job (under mpirun: on all its processes)\n"
    "  autophi export JOB.yaml   write a step of the job as StableHLO text\n"
    "  autophi data ...          make files of token ids, and say what is in them\n"
    "  autophi weights ...       convert weights to and from Hugging Face folders, or merge them\n"
    "  autophi ckpt ...          look at checkpoints, verify, compare and merge them\n"
    "  autophi spmd ...          ask or check sharding rules\n"
    "  autophi reshard ...       show how a tensor would be moved\n"
    "  autophi schedule ...      draw and simulate a pipeline schedule\n"
    "  autophi --version\n"
    "\n"
    "autophi SUBCOMMAND --help says more.\n";

// What a person typed wrongly is the same on every rank: one of them says so.
int usage_error(const std::string& message) {
  if (phi::cli::speaks_for_job()) std::fprintf(stderr, "autophi: %s\n", message.c_str());
  return kUsageStatus;
}

int dispatch(int argc, char** argv) {
  const std::string_view name = argv[1];
  if (name == "run") {
    if (!phi::cli::asks_for_help(argc - 1, argv + 1))
      return phi::job::run_command(argc - 1, argv + 1);
    if (phi::cli::speaks_for_job()) std::fputs(phi::job::run_help(), stdout);
    return 0;
  }
  if (name == "export") return phi::job::export_command(argc - 1, argv + 1);
  if (name == "data") return data_command(argc - 1, argv + 1);
  if (name == "weights") return weights_command(argc - 1, argv + 1);
  if (name == "ckpt") return ckpt_command(argc - 1, argv + 1);
  if (name == "spmd") return spmd_command(argc - 1, argv + 1);
  if (name == "reshard") return reshard_command(argc - 1, argv + 1);
  if (name == "schedule") return schedule_command(argc - 1, argv + 1);
  const bool is_flag = name.starts_with('-');
  const std::vector<std::string> known =
      is_flag ? std::vector<std::string>{"--help", "--version"}
              : std::vector<std::string>{"run",  "export", "data",    "weights",
                                         "ckpt", "spmd",   "reshard", "schedule"};
  const std::string hint = phi::cli::did_you_mean(name, known);
  return usage_error(std::string(is_flag ? "unknown flag '" : "unknown subcommand '") +
                     std::string(name) + "'" + (hint.empty() ? "; see autophi --help." : hint));
}

}  // namespace

int main(int argc, char** argv) {
  FLAGS_logtostderr = true;
  google::InitGoogleLogging(argv[0]);
  if (argc < 2) {
    return usage_error(
        "which subcommand? run, export, data, weights, ckpt, spmd, reshard or schedule; see "
        "autophi "
        "--help.");
  }
  const std::string_view first = argv[1];
  if (first == "--help" || first == "-h" || first == "help") {
    if (phi::cli::speaks_for_job()) std::fputs(kHelp, stdout);
    return 0;
  }
  if (first == "--version") {
    if (phi::cli::speaks_for_job()) std::puts("autophi " AUTOPHI_VERSION);
    return 0;
  }
  try {
    return dispatch(argc, argv);
  } catch (const phi::cli::UsageError& error) {
    return usage_error(error.what());
  } catch (const std::exception& error) {
    std::fprintf(stderr, "autophi %s: %s\n", argv[1], error.what());
    return 1;
  }
}
