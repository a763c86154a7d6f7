// Records steps in dry worlds.
#include "api/simulation/predict_step.h"

#include <algorithm>

#include "api/simulation/record_step.h"
#include "api/simulation/shard_symmetry.h"
#include "phi/common/errors.h"
#include "phi/core/observer_scope.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::simulation {

RecordedRank record_rank(const distributed::ProcessMesh& mesh, int64_t rank,
                         const MakeStep& make_step, int64_t steps) {
  PHI_CHECK(steps >= 1, errors::InvalidArgument("{} steps are predicted; pass 1 or more.", steps));
  distributed::RecordingWorld world(rank, mesh.size());
  const distributed::World::Scope scope(world);
  MemoryLedger ledger(*world.rank_context().memory());
  ShardSymmetry shards(mesh);
  const ObserverScope scope_of_shards(shards, world.rank_context());
  const std::function<void()> step = make_step();
  RecordedRank recorded;
  Counters before;
  const Counters& counters = world.rank_context().counters();
  const int64_t recorded_steps = std::min<int64_t>(2, steps);
  for (int64_t i = 0; i < recorded_steps; ++i) {
    before = counters;
    recorded.program = record_step(world, step);
  }
  const auto in_all = [&](int64_t Counters::*bytes) {
    return counters.*bytes + (steps - recorded_steps) * (counters.*bytes - before.*bytes);
  };
  recorded.totals.bytes_sent = in_all(&Counters::bytes_sent);
  recorded.totals.bytes_received = in_all(&Counters::bytes_received);
  recorded.totals.peak_tensor_bytes = world.rank_context().memory()->planned().peak;
  recorded.totals.held_at_peak = ledger.at_peak();
  if (ledger.scratch().unstated().empty()) recorded.totals.cpu_reserved = ledger.reserved();
  recorded.totals.gpu_pooled = ledger.pooled();
  recorded.asymmetries = shards.asymmetries();
  recorded.size_changes = shards.size_changes();
  return recorded;
}

PredictedStep predict_step(const distributed::ProcessMesh& mesh, const MakeStep& make_step,
                           const distributed::simulator::MachineModel& machine,
                           const StepOptions& options) {
  const RecordedWorld world = record_world(
      mesh, [&](int64_t rank) { return record_rank(mesh, rank, make_step, options.steps); });
  return predict(world, machine, options.items);
}

}  // namespace phi::simulation
