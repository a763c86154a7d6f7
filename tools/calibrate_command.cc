// The calibrate subcommand.
#include "tools/calibrate_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "api/simulation/calibration/calibrate.h"
#include "distributed/comm/world.h"
#include "distributed/simulator/machine_yaml.h"
#include "phi/common/errors.h"
#include "tools/cli/command_line.h"
#include "tools/job/output/atomic_file.h"

DEFINE_string(dtypes, "float32", "the dtypes to measure: float32,bfloat16");
DEFINE_string(raw_samples, "", "also write the time of each repetition to this file, as JSON");
DEFINE_bool(quick, false, "small sizes and few repetitions, for tests; rates are inaccurate");

namespace {

using phi::cli::UsageError;
using phi::distributed::World;

constexpr const char* kCalibrateHelp =
    "autophi calibrate --out=machine.yaml [--dtypes=float32,bfloat16] [--raw_samples=FILE.json]\n"
    "\n"
    "  mpirun -n 2 autophi calibrate --out=machine.yaml\n"
    "\n"
    "Measures operators, launches and, on two or more processes, messages, each on its own and on\n"
    "all processes at the same time, and writes the machine file of `autophi simulate`. Start as\n"
    "many processes as the jobs have on a machine. It takes less than two minutes. The table has\n"
    "for each family the rate at the largest size (flops or bytes per second), the spread of\n"
    "repetitions, and the largest error of the interpolation between sizes.\n"
    "\n"
    "  --raw_samples=FILE  also write the time of each repetition on rank 0, as JSON\n"
    "  --quick             small sizes and few repetitions, for tests; rates are inaccurate\n";

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

void write(const std::string& path, const char* what, const std::string& text) {
  phi::job::AtomicFile file(path, what);
  file.write(text);
  file.finish();
}

void measure_machine(const phi::simulation::CalibrationOptions& options) {
  const bool is_writer = World::current().rank() == 0;
  if (is_writer) {
    phi::job::check_writable(FLAGS_out, "machine file");
    if (!FLAGS_raw_samples.empty()) phi::job::check_writable(FLAGS_raw_samples, "samples");
  }
  const auto measured = calibrate(options);
  if (!is_writer) return;
  write(FLAGS_out, "machine file", to_yaml(measured.machine));
  if (!FLAGS_raw_samples.empty())
    write(FLAGS_raw_samples, "samples", samples_json(measured).dump(1) + "\n");
  fmt::print("{}written to {}\n", table(measured), FLAGS_out);
}

}  // namespace

int calibrate_command(int argc, char** argv) {
  static const std::vector<std::string> flags = {"out", "dtypes", "raw_samples", "quick"};
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
