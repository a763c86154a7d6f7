// The predict_runs subcommand.
#include "tools/fit/predict_runs_command.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gflags/gflags.h>

#include <cstdio>
#include <iostream>
#include <memory>
#include <string>
#include <variant>
#include <vector>

#include "api/simulation/composed_step.h"
#include "distributed/simulator/machine_yaml.h"
#include "tools/cli/command_line.h"
#include "tools/fit/measured_run.h"
#include "tools/fit/megatron_gpt.h"

DEFINE_string(rows, "", "CSV file of measured runs");
DEFINE_bool(matmuls, false, "print the matmuls of layers instead of times");
DEFINE_int64(vocab, 50257, "tokens of the runs' vocabulary");
DECLARE_string(machine);

namespace phi::fit {
namespace {

using distributed::simulator::Computation;
using distributed::simulator::kMatmulFamily;
using distributed::simulator::MachineModel;
using simulation::Body;
using simulation::BodyTimes;
using simulation::ComposedStep;
using simulation::RankPrograms;

constexpr const char* kPredictRunsHelp =
    "autophi predict_runs --rows=FILE.csv --machine=FILE [--matmuls] [--vocab=N]\n"
    "\n"
    "Predicts iteration times of Megatron-DeepSpeed on a machine, from the launches of its layers\n"
    "and its schedule, and prints them as a line of JSON, in milliseconds, in the order of rows.\n"
    "tools/fit_machine fits a machine to measured runs with it. Columns of the CSV file:\n"
    "# GPUs, global batch, micro batch, hidden size, attention heads, # layers, sequence length,\n"
    "tensor parallelism, data parallelism, pipeline parallelism, iteration time (ms).\n"
    "\n"
    "  --rows=FILE.csv  the runs\n"
    "  --machine=FILE   the machine. -: machine files on standard input, each followed by a line\n"
    "                   ---, and a line of predictions for each\n"
    "  --matmuls        prints [flops, bytes, seconds] of the matmuls in a layer of each run, and\n"
    "                   no times\n"
    "  --vocab=N        tokens of the vocabulary (50257)\n";

std::string matmuls_of(const Body& layer, const MachineModel& machine) {
  std::vector<std::string> out;
  for (const RankPrograms& programs : {layer.forward, layer.backward}) {
    for (const auto& event : programs.front().events) {
      const auto* launch = std::get_if<Computation>(&event);
      if (launch == nullptr || launch->op != kMatmulFamily) continue;
      out.push_back(fmt::format("[{}, {}, {}]", launch->flops, launch->bytes,
                                machine.time_of(*launch).seconds));
    }
  }
  return fmt::format("[{}]", fmt::join(out, ", "));
}

class Runs {
 public:
  Runs(const std::string& path, int64_t vocab) {
    MegatronGpt model(vocab);
    for (const MeasuredRun& run : read_runs(path)) {
      steps_.push_back(model.compose(run));
      layers_.push_back(model.layer(run));
    }
  }

  std::string matmuls(const MachineModel& machine) const {
    std::vector<std::string> of_runs;
    for (const auto& layer : layers_) of_runs.push_back(matmuls_of(*layer, machine));
    return fmt::format("[{}]", fmt::join(of_runs, ", "));
  }

  std::string predict(const MachineModel& machine) const {
    BodyTimes times(machine);
    std::vector<double> milliseconds;
    for (const ComposedStep& step : steps_) milliseconds.push_back(1e3 * simulate(step, times));
    return fmt::format("[{}]", fmt::join(milliseconds, ", "));
  }

 private:
  std::vector<ComposedStep> steps_;
  std::vector<std::shared_ptr<const Body>> layers_;
};

std::string answer(const Runs& runs, const MachineModel& machine) {
  return FLAGS_matmuls ? runs.matmuls(machine) : runs.predict(machine);
}

void answer_each_machine(const Runs& runs) {
  std::string text;
  for (std::string line; std::getline(std::cin, line);) {
    if (line != "---") {
      text += line + "\n";
      continue;
    }
    std::cout << answer(runs, distributed::simulator::parse_machine(text, "standard input"))
              << std::endl;
    text.clear();
  }
}

}  // namespace

int predict_runs_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {"rows", "machine", "matmuls", "vocab"};
  if (cli::has_help_flag(argc, argv)) {
    std::fputs(kPredictRunsHelp, stdout);
    return 0;
  }
  const std::vector<std::string> words = cli::parse_flags(argc, argv, flags);
  if (!words.empty()) {
    throw cli::UsageError(
        fmt::format("autophi predict_runs expects flags only, got {}; see --help.", words[0]));
  }
  if (FLAGS_rows.empty()) throw cli::UsageError("--rows is missing; pass --rows=FILE.csv.");
  if (FLAGS_machine.empty()) throw cli::UsageError("--machine is missing; pass --machine=FILE.");
  if (FLAGS_vocab < 1)
    throw cli::UsageError(fmt::format("--vocab={} must be at least 1.", FLAGS_vocab));
  const Runs runs(FLAGS_rows, FLAGS_vocab);
  if (FLAGS_machine == "-") {
    answer_each_machine(runs);
  } else {
    std::cout << answer(runs, distributed::simulator::read_machine(FLAGS_machine)) << "\n";
  }
  return 0;
}

}  // namespace phi::fit
