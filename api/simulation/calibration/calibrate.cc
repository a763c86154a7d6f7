// Times operators and messages, and divides the work that the simulator counts for them by it.
#include "api/simulation/calibration/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <thread>

#include "api/simulation/calibration/measured_families.h"
#include "api/simulation/calibration/measured_memory.h"
#include "api/simulation/calibration/measured_messages.h"
#include "api/simulation/calibration/timing.h"
#include "api/simulation/record_step.h"
#include "distributed/comm/world.h"

namespace phi::simulation {
namespace {

using distributed::RecordingWorld;
using distributed::World;
using distributed::simulator::Computation;
using distributed::simulator::MachineModel;
using distributed::simulator::OpFamily;
using distributed::simulator::RankProgram;
using distributed::simulator::RatePoint;
using distributed::simulator::WorkUnit;

// Flops or bytes of the work, as the simulator counts them.
double counted(const MeasuredFamily& family, DataType dtype, int64_t size) {
  RecordingWorld world(0, 1);
  const World::Scope scope(world);
  const RankProgram program = record_step(world, family.make(dtype, size));
  double total = 0;
  for (const auto& event : program.events) {
    const auto* launch = std::get_if<Computation>(&event);
    if (launch) total += family.by == WorkUnit::kFlops ? launch->flops : launch->bytes;
  }
  return total;
}

// The largest relative error of a point's rate between its neighbours.
double residual_of(const OpFamily& family) {
  double largest = 0;
  for (size_t i = 1; i + 1 < family.points.size(); ++i) {
    const OpFamily around{family.name, {}, family.by, {family.points[i - 1], family.points[i + 1]}};
    const RatePoint& point = family.points[i];
    largest = std::max(largest, std::abs(around.per_second(point.work) / point.per_second - 1));
  }
  return largest;
}

class Calibrator {
 public:
  explicit Calibrator(const CalibrationOptions& options)
      : options_(options), budget_{options.quick ? 0.002 : 0.25, options.quick ? size_t{3} : 5} {}

  Calibration run() {
    MachineModel& machine = result_.machine;
    machine.cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
    const Timing launch = time_on_all(smallest_launch(), budget_);
    machine.launch_overhead_us = launch.seconds * 1e6;
    result_.quality.push_back({"launch overhead", 1 / launch.seconds, launch.spread, 0});
    result_.samples.push_back({"launch overhead", "bytes", 0, launch.samples});
    for (const DataType dtype : options_.dtypes) {
      for (const MeasuredFamily& family : measured_families()) measure(family, dtype);
    }
    if (World::current().size() > 1) measure_messages(options_.quick, &result_);
    memory_.note_process();
    memory_.write(&machine);
    return std::move(result_);
  }

 private:
  std::vector<int64_t> sizes(const std::vector<int64_t>& all) const {
    return options_.quick ? std::vector(all.begin(), all.begin() + 2) : all;
  }

  void measure(const MeasuredFamily& family, DataType dtype) {
    OpFamily out{family.name, family.ops, family.by, {}};
    std::vector<double> spreads;
    for (const int64_t size : sizes(family.sizes)) {
      const double work = counted(family, dtype, size);
      const Work launches = family.make(dtype, size);
      if (dtype == DataType::FLOAT32) memory_.note_scratch(family.name, launches);
      const Timing timing = time_on_all(launches, budget_, [this] { evictor_.evict(); });
      memory_.note_process();
      const double overhead = result_.machine.launch_overhead_us * 1e-6;
      const double net = std::max(timing.seconds - overhead, 0.1 * timing.seconds);
      out.points.push_back({work, work / net});
      spreads.push_back(timing.spread);
      result_.samples.push_back({fmt::format("{} {}", name_of(dtype), family.name),
                                 family.by == WorkUnit::kFlops ? "flops" : "bytes", work,
                                 timing.samples});
    }
    result_.quality.push_back({fmt::format("{} {}", name_of(dtype), family.name),
                               out.points.back().per_second, median_of(spreads), residual_of(out)});
    result_.machine.families[dtype].push_back(std::move(out));
  }

  const CalibrationOptions options_;
  const Budget budget_;
  CacheEvictor evictor_;
  MeasuredMemory memory_;
  Calibration result_;
};

}  // namespace

Calibration calibrate(const CalibrationOptions& options) { return Calibrator(options).run(); }

nlohmann::ordered_json samples_json(const Calibration& calibration) {
  nlohmann::ordered_json out = nlohmann::ordered_json::array();
  for (const RawSamples& each : calibration.samples) {
    out.push_back({{"name", each.name}, {each.unit, each.size}, {"seconds", each.seconds}});
  }
  return out;
}

std::string table(const Calibration& calibration) {
  std::string out =
      fmt::format("{:<30}  {:>10}  {:>7}  {:>8}\n", "", "per second", "spread", "residual");
  for (const CalibrationQuality& row : calibration.quality) {
    out += fmt::format("{:<30}  {:>10.3g}  {:>6.1f}%  {:>7.1f}%\n", row.name, row.per_second,
                       100 * row.spread, 100 * row.residual);
  }
  return out;
}

}  // namespace phi::simulation
