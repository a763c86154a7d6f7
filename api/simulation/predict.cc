// Joins simulated times with what recorded ranks hold and send.
#include "api/simulation/predict.h"

#include <cmath>
#include <map>
#include <utility>
#include <vector>

namespace phi::simulation {

namespace {

using distributed::simulator::MachineModel;

int64_t bytes_of_MiB(double MiB) { return std::llround(std::ceil(MiB * (1 << 20))); }

// Bytes that tensors and kernels of a rank take from the system or from its GPU; 0 if unknown.
int64_t reserved_bytes(const MachineModel& machine, const RankTotals& totals) {
  if (machine.scratch_MiB == 0) return 0;
  const int64_t scratch = bytes_of_MiB(machine.scratch_MiB);
  if (machine.device == "gpu") {
    const double share = 1 + machine.pool_share;
    return scratch + std::llround(std::ceil(share * static_cast<double>(totals.gpu_pooled)));
  }
  return totals.cpu_reserved > 0 ? totals.cpu_reserved + scratch : 0;
}

RankPrediction memory_of(const MachineModel& machine, const RankTotals& totals) {
  RankPrediction own;
  own.bytes_sent = totals.bytes_sent;
  own.bytes_received = totals.bytes_received;
  own.peak_tensor_bytes = totals.peak_tensor_bytes;
  own.held_at_peak = totals.held_at_peak;
  own.reserved_bytes = reserved_bytes(machine, totals);
  if (own.reserved_bytes > 0 && machine.process_MiB > 0)
    own.process_bytes = own.reserved_bytes + bytes_of_MiB(machine.process_MiB);
  return own;
}

}  // namespace

PredictedStep predict(const RecordedWorld& world,
                      const distributed::simulator::MachineModel& machine, int64_t items,
                      const distributed::simulator::SimulateOptions& options) {
  PredictedStep out{{}, distributed::simulator::simulate(world.programs, machine, options)};
  const auto& simulated = out.simulated;
  Prediction& prediction = out.prediction;
  prediction.step_seconds = simulated.seconds;
  prediction.tokens_per_s = static_cast<double>(items) / simulated.seconds;
  prediction.recorded_ranks = world.num_recorded;
  prediction.asymmetries = world.asymmetries;
  prediction.unlisted = simulated.unlisted;
  prediction.device_bytes = machine.tensor_memory_bytes();
  std::map<std::pair<size_t, size_t>, size_t> classes;  // by times, and by what ranks hold
  std::vector<distributed::simulator::LinkBytes> sent;  // by class of the simulation
  for (const size_t rank : simulated.representatives)
    sent.push_back(link_bytes(world.programs, machine, rank));
  for (size_t rank = 0; rank < simulated.ranks.size(); ++rank) {
    RankPrediction own = memory_of(machine, world.totals[world.totals_of[rank]]);
    own.compute_seconds = simulated.ranks[rank].compute;
    own.exposed_seconds = simulated.ranks[rank].exposed;
    own.bubble_seconds = simulated.ranks[rank].bubble;
    own.bytes_by_link = sent[simulated.class_of[rank]];
    prediction.ranks.push_back(own);
    const auto key = std::pair(simulated.class_of[rank], world.totals_of[rank]);
    prediction.class_of.push_back(classes.try_emplace(key, classes.size()).first->second);
  }
  prediction.classes = classes.size();
  return out;
}

}  // namespace phi::simulation
