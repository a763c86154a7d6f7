// The command line of autophi schedule, and the figures that it prints below the picture.
#include "tools/schedule_command.h"

#include <fmt/format.h>
#include <gflags/gflags.h>

#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <string>
#include <string_view>
#include <vector>

#include "distributed/pipeline/schedules/check.h"
#include "distributed/pipeline/schedules/drawing.h"
#include "distributed/pipeline/schedules/make_schedule.h"
#include "distributed/simulator/simulate_schedule.h"
#include "phi/common/errors.h"
#include "phi/common/process/terminal.h"
#include "tools/cli/command_line.h"

DEFINE_int32(stages, 0, "pipeline stages");
DEFINE_int32(micro_batches, 0, "micro-batches per batch");
DEFINE_int32(chunks, 1, "model chunks per stage, for interleaved");
DEFINE_double(forward, 1, "time of a micro-batch's forward through one stage");
DEFINE_double(backward, 1, "time of its backward for the input");
DEFINE_double(weight, 1, "time of its backward for the weight");
DEFINE_double(comm, 0, "time of a transfer to the next stage");
DEFINE_string(svg, "", "also write the picture to this file");

namespace phi::schedule_tool {
namespace {

using cli::UsageError;
using distributed::pipeline::ActionTimes;
using distributed::pipeline::PeakMicroBatches;
using distributed::pipeline::Schedule;
using distributed::pipeline::ScheduleKind;
using distributed::pipeline::Simulation;

constexpr const char* kHelp =
    "autophi schedule: draws a pipeline schedule and computes its cost.\n"
    "\n"
    "  autophi schedule --kind=zb_h1 --stages=8 --micro_batches=24\n"
    "      --forward=18.522 --backward=18.086 --weight=9.337 --comm=0.601\n"
    "  autophi schedule --kind=interleaved --stages=4 --micro_batches=8 --chunks=2\n"
    "      --svg=schedule.svg\n"
    "\n"
    "Kinds: gpipe (all forwards, then all backwards), 1f1b, interleaved (1F1B over --chunks model\n"
    "chunks per stage), zb_h1, zb_h2 (zero bubble).\n"
    "\n"
    "Times are those of one micro-batch through one stage, in any unit: --forward,\n"
    "--backward (for the input), --weight (the backward for the weight), 1 each if all are left "
    "out;\n"
    "--comm (a transfer to a neighbour) is 0. gpipe, 1f1b and interleaved run both halves of the\n"
    "backward as one.\n"
    "\n"
    "  cost                the longest time from any stage's first start to its last end\n"
    "  ideal               the time that a stage works\n"
    "  bubble_rate         (cost - ideal) / cost\n"
    "  peak_micro_batches  per stage, the most that wait for their backward (for the input)\n"
    "  peak_with_weight    zb_h1, zb_h2: with those that wait for their backward for the weight\n"
    "\n"
    "Flags: --kind --stages --micro_batches --chunks --forward --backward --weight --comm --svg\n";

bool given(const char* flag) { return !gflags::GetCommandLineFlagInfoOrDie(flag).is_default; }

int count(const char* flag, int value) {
  if (!given(flag)) throw UsageError(fmt::format("--{0} is missing; pass --{0}=8.", flag));
  if (value < 1) throw UsageError(fmt::format("--{}={} must be at least 1.", flag, value));
  return value;
}

double time(const char* flag, double value) {
  if (!std::isfinite(value) || value < 0) {
    throw UsageError(fmt::format("--{}={} must be a finite time, 0 or more.", flag, value));
  }
  return value;
}

// Flags have times per stage; an action runs one of its chunks.
ActionTimes times() {
  const std::array actions = {"forward", "backward", "weight"};
  int number = 0;
  for (const char* flag : actions) number += given(flag) ? 1 : 0;
  for (const char* flag : actions) {
    if (number != 0 && !given(flag)) {
      throw UsageError(fmt::format(
          "--{} is missing; pass all of --forward, --backward and --weight, or none.", flag));
    }
  }
  const double chunks = FLAGS_chunks;
  const ActionTimes times = {time("forward", FLAGS_forward) / chunks,
                             time("backward", FLAGS_backward) / chunks,
                             time("weight", FLAGS_weight) / chunks, time("comm", FLAGS_comm)};
  if (times.forward + times.backward_input + times.backward_weight <= 0) {
    throw UsageError("--forward, --backward and --weight are all 0; one must be more.");
  }
  return times;
}

Schedule make_schedule() {
  if (FLAGS_kind.empty()) {
    throw UsageError("--kind is missing; pass --kind=1f1b, or gpipe, interleaved, zb_h1, zb_h2.");
  }
  try {
    const ScheduleKind kind = distributed::pipeline::parse_schedule_kind(FLAGS_kind);
    const int stages = count("stages", FLAGS_stages);
    const int micro_batches = count("micro_batches", FLAGS_micro_batches);
    if (FLAGS_chunks < 1) {
      throw UsageError(fmt::format("--chunks={} must be at least 1.", FLAGS_chunks));
    }
    return distributed::pipeline::make_schedule(kind, stages, micro_batches, FLAGS_chunks);
  } catch (const Error& error) {
    throw UsageError(error.what());
  }
}

void write_svg(const std::string& file, const std::string& text) {
  std::ofstream out(file, std::ios::binary);
  out << text;
  out.close();
  if (!out) {
    throw errors::Unavailable("cannot write the picture '{}': {}.", file, std::strerror(errno));
  }
}

void print_peaks(const char* name, const Simulation& simulation, int PeakMicroBatches::*part,
                 int chunks) {
  fmt::print("{}:", name);
  for (const PeakMicroBatches& peak : simulation.peaks) {
    fmt::print(" {:.4g}", static_cast<double>(peak.*part) / chunks);
  }
  fmt::print("\n");
}

void run() {
  const Schedule schedule = make_schedule();
  const ActionTimes action_times = times();
  distributed::pipeline::check(schedule);
  const Simulation simulation = distributed::simulator::simulate_schedule(schedule, action_times);
  if (!FLAGS_svg.empty()) write_svg(FLAGS_svg, draw_svg(schedule, simulation));
  fmt::print("{}\n", title_of(schedule));
  fmt::print("{}", draw_text(schedule, simulation,
                             {.width = terminal_width(), .colour = shows_colours()}));
  fmt::print("cost: {:.7g}\nideal: {:.7g}\nbubble_rate: {:.4f}\n", simulation.cost,
             simulation.ideal, simulation.bubble_rate);
  print_peaks("peak_micro_batches", simulation, &PeakMicroBatches::input, schedule.chunks);
  // Otherwise no weight gradient is deferred.
  const bool split = simulation.peaks.front().weight > 0;
  if (split) {
    print_peaks("peak_with_weight", simulation, &PeakMicroBatches::total, schedule.chunks);
  }
}

}  // namespace
}  // namespace phi::schedule_tool

int schedule_command(int argc, char** argv) {
  static const std::array<std::string, 9> flags = {
      "kind", "stages", "micro_batches", "chunks", "forward", "backward", "weight", "comm", "svg"};
  if (phi::cli::has_help_flag(argc, argv)) {
    std::fputs(phi::schedule_tool::kHelp, stdout);
    return 0;
  }
  return phi::cli::status_of("schedule", [&] {
    const auto words = phi::cli::parse_flags(argc, argv, flags);
    if (!words.empty()) {
      throw phi::cli::UsageError(
          fmt::format("the argument '{}' is unknown; see autophi schedule --help.", words[0]));
    }
    phi::schedule_tool::run();
    return 0;
  });
}
