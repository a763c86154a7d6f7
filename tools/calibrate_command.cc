// The calibrate subcommand.
#include "tools/calibrate_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include "api/simulation/calibrate.h"
#include "distributed/comm/world.h"
#include "distributed/simulator/machine_yaml.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/output/atomic_file.h"

DEFINE_string(dtypes, "float32", "the dtypes to measure: float32,bfloat16");
DEFINE_bool(quick, false, "small sizes and few repetitions, for tests; rates are inaccurate");

namespace {

using phi::cli::UsageError;
using phi::distributed::World;

constexpr const char* kCalibrateHelp =
    "autophi calibrate --out=machine.yaml [--dtypes=float32,bfloat16] [--quick]\n"
    "\n"
    "  mpirun -n 2 autophi calibrate --out=machine.yaml\n"
    "\n"
    "Measures operators, launches and, on two or more processes, messages, each on its own and on\n"
    "all processes at the same time, and writes the machine file of `autophi simulate`. Start as\n"
    "many processes as the jobs have on a machine. It takes less than two minutes. The table has\n"
    "for each family the rate at the largest size (flops or bytes per second), the spread of\n"
    "repetitions, and the largest error of the interpolation between sizes.\n";

std::vector<phi::DataType> dtypes_of_flag() {
  std::vector<phi::DataType> dtypes;
  std::istringstream words(FLAGS_dtypes);
  for (std::string word; std::getline(words, word, ',');) {
    phi::DataType dtype{};
    try {
      dtype = phi::parse_dtype(word);
    } catch (const phi::Error& error) {
      throw UsageError(
          fmt::format("--dtypes={} is no list of dtypes: {}", FLAGS_dtypes, error.what()));
    }
    if (!phi::is_floating(dtype)) {
      throw UsageError(fmt::format("--dtypes={}: {} is not a floating-point dtype.", FLAGS_dtypes,
                                   name_of(dtype)));
    }
    dtypes.push_back(dtype);
  }
  if (std::find(dtypes.begin(), dtypes.end(), phi::DataType::FLOAT32) == dtypes.end())
    dtypes.push_back(phi::DataType::FLOAT32);  // launches without flops use its rates
  return dtypes;
}

void measure_machine(const phi::simulation::CalibrationOptions& options) {
  const bool is_writer = World::current().rank() == 0;
  if (is_writer) phi::job::check_writable(FLAGS_out, "machine file");
  const auto measured = calibrate(options);
  if (!is_writer) return;
  phi::job::AtomicFile file(FLAGS_out, "machine file");
  file.write(to_yaml(measured.machine));
  file.finish();
  fmt::print("{}written to {}\n", table(measured), FLAGS_out);
}

}  // namespace

int calibrate_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {"out", "dtypes", "quick"};
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(kCalibrateHelp, stdout);
    return 0;
  }
  const std::vector<std::string> words = phi::cli::parse_flags(argc, argv, flags);
  if (!words.empty()) {
    throw UsageError(
        fmt::format("autophi calibrate expects no arguments, got '{}'; see --help.", words[0]));
  }
  if (FLAGS_out.empty()) throw UsageError("--out is missing; pass --out=machine.yaml.");
  const phi::simulation::CalibrationOptions options{.dtypes = dtypes_of_flag(),
                                                    .quick = FLAGS_quick};
  try {
    measure_machine(options);
  } catch (const phi::Error& error) {
    // Other ranks may wait for this one.
    if (World::current().size() > 1) phi::distributed::abort_job(error.what());
    throw;
  }
  return 0;
}
