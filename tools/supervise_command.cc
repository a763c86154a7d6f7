// The command line of autophi supervise; distributed/supervise does the work.
#include "tools/supervise_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/supervise/machines.h"
#include "distributed/supervise/mpirun.h"
#include "distributed/supervise/supervisor.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/config/elastic.h"

DEFINE_int64(n, 0, "processes at most; 0: the number of ranks of the job's mesh");
DEFINE_int64(restarts, 10, "how often it is started again");
DEFINE_string(hostfile, "", "machines and their slots");
DEFINE_string(probe, phi::distributed::supervise::kSshProbe, "probes the machine $1");
DEFINE_double(probe_s, 10, "how long the probe of a machine may run");
DEFINE_double(grace_s, 30, "how long mpirun may run when a rank has ended");
DEFINE_double(stall_s, 0, "how long a step may run; 0: no limit");
DEFINE_double(stop_s, 1800, "how long ranks may save when they are signalled to stop");
DEFINE_double(wait_s, 600, "how long to wait for machines to respond again");
DEFINE_double(pause_s, 2, "before a restart");

namespace phi::supervise_tool {
namespace {

namespace fs = std::filesystem;
namespace supervise = distributed::supervise;
using cli::UsageError;
using CommandWords = std::vector<std::string>;

constexpr double kMaxSeconds = 365 * 24 * 3600.0;

constexpr const char* kHelp =
    "autophi supervise JOB.yaml: runs a job under mpirun, and when it fails starts it again from\n"
    "its newest checkpoint, on the machines that respond (docs/supervise.md).\n"
    "\n"
    "  autophi supervise -n 8 JOB.yaml --restarts=10\n"
    "  autophi supervise --hostfile=hosts JOB.yaml -- --report=report.json --deadline_s=120\n"
    "\n"
    "The job has a folder checkpoint.dir. With elastic: {dp: [1, 4]} in it the mesh has the\n"
    "largest dp that fits. Arguments after -- are flags of autophi run.\n"
    "\n"
    "  -n=8                 processes at most; left out: those of the job's mesh\n"
    "  --mesh=2x2x2         mesh instead of the file's, as of autophi run\n"
    "  --hostfile=FILE      machines, a line each: NAME slots=4\n"
    "  --restarts=10        how often it is restarted; it is abandoned earlier when it has\n"
    "                       failed three times at one step\n"
    "  --grace_s=30         how long mpirun may run when a rank has ended, then it is ended\n"
    "  --stall_s=0          ends a job that is in one step for longer; 0: never\n"
    "  --stop_s=1800        how long ranks may save when they are signalled to stop\n"
    "  --wait_s=600         how long to wait for machines, if too few respond\n"
    "  --pause_s=2          before a restart; longer where the same step fails again\n"
    "  --mpirun=mpirun --mpirun_args=\"--mca btl_tcp_if_include eth0\"\n"
    "  --probe=COMMAND      for sh: probes the machine $1 (ssh); --probe_s=10\n"
    "\n"
    "SIGTERM and SIGINT: the ranks save and end, and so does the supervisor, with 128 and the\n"
    "signal's number. SIGUSR1: the ranks save and continue.\n";

std::chrono::milliseconds seconds(const char* flag, double value) {
  if (!(value >= 0 && value <= kMaxSeconds)) {
    throw UsageError(
        fmt::format("--{}={} must be a time in seconds, from 0 to a year.", flag, value));
  }
  return std::chrono::milliseconds(static_cast<int64_t>(value * 1000));
}

// Words after `--` are passed to autophi run.
struct CommandLine {
  CommandWords own;
  CommandWords of_run;
};

CommandLine split(int argc, char** argv) {
  char** const dashes = std::find(argv + 1, argv + argc, std::string_view("--"));
  CommandLine line{CommandWords(argv, dashes), {}};
  if (dashes != argv + argc) line.of_run.assign(dashes + 1, argv + argc);
  return line;
}

// The supervisor sets these flags itself.
void check_words_of_run(const CommandWords& words) {
  for (const std::string& word : words) {
    const size_t begin = word.find_first_not_of('-');
    if (begin != 1 && begin != 2) {
      throw UsageError(fmt::format("'{}' after -- is no flag of autophi run.", word));
    }
    const std::string name = word.substr(begin, word.find('=') - begin);
    if (name == "mesh")
      throw UsageError("--mesh must come before --, as it sets the number of processes.");
    if (name == "resume" || name == "noresume" || name == "status_file" || name == "dry_run") {
      throw UsageError(
          fmt::format("--{} cannot be passed after --: autophi supervise sets it.", name));
    }
  }
}

class Job {
 public:
  Job(const std::string& file, CommandWords of_run)
      : config_(job::load_job(file)), of_run_(std::move(of_run)) {
    if (config_.mode != "train" || config_.checkpoint.dir.empty()) {
      throw config_.wrong({"checkpoint.dir"},
                          "autophi supervise resumes from checkpoints; use a job with mode: train "
                          "and checkpoint.dir.");
    }
    if (FLAGS_n < 0)
      throw UsageError(fmt::format("-n={} is not a number of processes; pass 1 or more.", FLAGS_n));
    if (!FLAGS_hostfile.empty()) machines_ = supervise::read_host_file(FLAGS_hostfile);
    check_room();
    fs::create_directories(config_.checkpoint.dir);
  }

  std::string status_file() const {
    return (fs::path(config_.checkpoint.dir) / "supervise.status").string();
  }

  std::optional<supervise::JobLaunch> next() {
    std::vector<supervise::UnresponsiveMachine> others;
    const auto here =
        machines_.empty() ? machines_ : supervise::responding_machines(machines_, probe(), &others);
    const auto launch_size = place(here);
    tell_missing(others, launch_size);
    if (!launch_size) return std::nullopt;
    supervise::MpirunOptions mpirun = supervise::mpirun_options(FLAGS_mpirun, FLAGS_mpirun_args);
    if (!here.empty()) mpirun.hosts = supervise::host_list(here, launch_size->ranks);
    return supervise::JobLaunch{
        .command = mpirun_command(mpirun, launch_size->ranks, program(*launch_size)),
        .ranks = launch_size->ranks,
        .mesh = launch_size->mesh};
  }

 private:
  // Reports missing machines once, until the set of missing machines changes.
  void tell_missing(const std::vector<supervise::UnresponsiveMachine>& others,
                    const std::optional<job::LaunchSize>& launch_size) {
    std::string text;
    for (const auto& [machine, why] : others) {
      text += fmt::format("autophi supervise: {} does not respond: {}\n", machine, why);
    }
    const auto whole = place(machines_);
    if (launch_size && whole && launch_size->ranks < whole->ranks) {
      text += fmt::format("autophi supervise: the job starts with {} of {} ranks, as {}\n",
                          launch_size->ranks, whole->ranks, launch_size->mesh);
    }
    if (text != told_missing_) fmt::print(stderr, "{}", text);
    told_missing_ = text;
  }

  static supervise::Probe probe() {
    return {.command = FLAGS_probe, .limit = seconds("probe_s", FLAGS_probe_s)};
  }

  // Without a machine file mpirun decides where there is room, so all requested ranks fit.
  int64_t slots(const std::vector<supervise::Machine>& machines) const {
    const int64_t asked = FLAGS_n > 0 ? FLAGS_n : INT32_MAX;
    return machines_.empty() ? asked : std::min(asked, supervise::slots_of(machines));
  }

  std::optional<job::LaunchSize> place(const std::vector<supervise::Machine>& machines) const {
    return job::choose_launch_size(config_, mesh_flag_, slots(machines));
  }

  // Checks once, with all machines, before the first start.
  void check_room() {
    const int64_t room = slots(machines_);
    const bool is_elastic = config_.elastic.is_elastic();
    if (config_.mesh.shape.empty() && mesh_flag_.empty() && !is_elastic) {
      if (room == INT32_MAX) {
        throw UsageError(
            "the number of processes is missing: the job has no mesh; pass -n=8, for example.");
      }
      mesh_flag_ = fmt::format("dp={}", room);  // also if there is less room later
    }
    const auto launch_size = place(machines_);
    if (!launch_size && is_elastic) {
      throw config_.wrong(
          {"elastic.dp"},
          fmt::format("no extent from {} to {} fits in {} slots with the other mesh dims, and "
                      "divides the {} rows of a micro-batch.",
                      config_.elastic.dp[0], config_.elastic.dp[1], room,
                      config_.run.micro_batch_size()));
    }
    const bool is_short = FLAGS_n > 0 && launch_size && FLAGS_n > launch_size->ranks && !is_elastic;
    if (launch_size && !is_short) return;
    throw UsageError(
        fmt::format("the job's mesh {}, and there {} {} slot{} ({}); provide that many slots, or "
                    "set another mesh.",
                    mesh_text(), room == 1 ? "is" : "are", room, room == 1 ? "" : "s",
                    machines_.empty() ? "-n" : "-n and --hostfile"));
  }

  std::string mesh_text() const {
    const auto mesh = mesh_flag_.empty() ? config_.mesh : job::parse_mesh_flag(mesh_flag_);
    return fmt::format("{} has {} ranks", mesh.to_string(), mesh.num_ranks());
  }

  CommandWords program(const job::LaunchSize& launch_size) const {
    CommandWords words = {fs::read_symlink("/proc/self/exe").string(), "run", config_.file,
                          "--resume", "--status_file=" + status_file()};
    if (!launch_size.mesh.empty()) words.push_back("--mesh=" + launch_size.mesh);
    words.insert(words.end(), of_run_.begin(), of_run_.end());
    return words;
  }

  job::JobConfig config_;
  std::string mesh_flag_ = FLAGS_mesh;
  CommandWords of_run_;
  std::vector<supervise::Machine> machines_;
  std::string told_missing_;
};

const CommandWords& own_flags() {
  static const CommandWords flags = {"n",      "restarts", "hostfile", "mesh",        "mpirun",
                                     "probe",  "probe_s",  "grace_s",  "mpirun_args", "stall_s",
                                     "stop_s", "wait_s",   "pause_s"};
  return flags;
}

int run(int argc, char** argv) {
  CommandLine line = split(argc, argv);
  std::vector<char*> own;
  for (std::string& word : line.own) own.push_back(word.data());
  const CommandWords files =
      cli::parse_flags(static_cast<int>(own.size()), own.data(), own_flags());
  if (files.size() != 1) {
    throw UsageError(fmt::format("autophi supervise expects one job file, got {}{}; see --help.",
                                 files.size(), files.empty() ? "" : " (" + files[1] + ")"));
  }
  check_words_of_run(line.of_run);
  if (std::getenv(supervise::kOpenMpiRank) != nullptr) {
    throw UsageError("autophi supervise starts mpirun itself; start it without.");
  }
  if (FLAGS_restarts < 0) {
    throw UsageError(fmt::format("--restarts={} must be 0 or more.", FLAGS_restarts));
  }
  Job job(files[0], std::move(line.of_run));
  supervise::Supervisor supervisor({.next = [&] { return job.next(); },
                                    .status_file = job.status_file(),
                                    .restarts = FLAGS_restarts,
                                    .stop_signal = SIGUSR2,  // mpirun forwards this signal
                                    .grace = seconds("grace_s", FLAGS_grace_s),
                                    .stall = seconds("stall_s", FLAGS_stall_s),
                                    .stop_limit = seconds("stop_s", FLAGS_stop_s),
                                    .wait = seconds("wait_s", FLAGS_wait_s),
                                    .first_pause = seconds("pause_s", FLAGS_pause_s)});
  return supervisor.run();
}

// Errors in the job or the command line are detected before anything is started.
int status_of_run(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

}  // namespace
}  // namespace phi::supervise_tool

int supervise_command(int argc, char** argv) {
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::supervise_tool::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("supervise",
                             [&] { return phi::supervise_tool::status_of_run(argc, argv); });
}
