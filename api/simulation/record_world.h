// Records a world: one rank for all those that do the same, and every rank where that is not sure.
//
//   const RecordedWorld world = record_world(mesh, record);
//   const auto step = distributed::simulator::simulate(world.programs, machine);
//
// Two ranks do the same if they differ only along mesh dims along which operators (ShardSymmetry)
// and calls (asymmetries_of) of one of them are symmetric, and if all their shards have the same
// sizes. As a check, the first and the last of such ranks are both recorded, at the two ends of the
// other mesh dims. If they are not equal, every rank is recorded along the mesh dims with shards of
// different sizes; if there are none, every rank of the job.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "distributed/mesh/process_mesh.h"
#include "distributed/simulator/mesh_symmetry.h"
#include "distributed/simulator/rank_program.h"
#include "distributed/simulator/world_programs.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::simulation {

/// Bytes that a rank sends and receives in all steps of the job, and the most bytes that it holds.
struct RankTotals {
  int64_t bytes_sent = 0;
  int64_t bytes_received = 0;
  int64_t peak_tensor_bytes = 0;
  MemoryHolders held_at_peak;  // what these bytes are used for
  int64_t cpu_reserved = 0;  // MemoryLedger::reserved; 0: kernels do not state their scratch memory
  int64_t gpu_pooled = 0;    // MemoryLedger::pooled

  friend bool operator==(const RankTotals&, const RankTotals&) = default;
};

struct RecordedRank {
  distributed::simulator::RankProgram program;
  RankTotals totals;
  std::vector<std::string> asymmetries{};  // ShardSymmetry::asymmetries
  distributed::simulator::SizeChanges size_changes{};
};

struct RecordedWorld {
  distributed::simulator::WorldPrograms programs;
  std::vector<RankTotals> totals;  // each once
  std::vector<size_t> totals_of;   // by rank, index in `totals`
  size_t num_recorded = 0;         // also those that were recorded as a check
  /// Why ranks differ along a mesh dim, by mesh dim: "" or "tp: rank 0 exchanges more with ...".
  std::vector<std::string> asymmetries;
};

/// `mesh` has ranks 0, 1, ... in row-major order. `record` returns what a rank does.
RecordedWorld record_world(const distributed::ProcessMesh& mesh,
                           const std::function<RecordedRank(int64_t rank)>& record);

}  // namespace phi::simulation
