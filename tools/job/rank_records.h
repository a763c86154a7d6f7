// RankRecords: records ranks of jobs that differ in their layout. A rank of a pipeline is recorded
// with one layer in each chunk of other stages (shorten_other_stages).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "api/simulation/record_world.h"
#include "distributed/mesh/process_mesh.h"
#include "tools/job/setup.h"

namespace phi::job {

class RankRecords {
 public:
  /// Records jobs of this many steps with the data of `inputs`, which must outlive this. Weights
  /// are not loaded: parameters take the same memory without. Keeps the records of the last `kept`
  /// layouts for others that differ from them in their cut and in the order of their mesh dims
  /// alone.
  RankRecords(const Setup& inputs, int64_t steps, size_t kept = 0)
      : inputs_(inputs), steps_(steps), kept_(kept) {}

  /// The record of a rank of a job with this config. Errors: those of the job's operators.
  simulation::RecordedRank of(const JobConfig& config, int64_t rank);

 private:
  using ByMeshDim = std::map<std::string, int64_t>;  // extents of a mesh, or coordinates
  struct Known {
    distributed::ProcessMesh mesh;
    int64_t rank;
    simulation::RecordedRank recorded;
    std::optional<simulation::RecordedRank> in(const distributed::ProcessMesh& other) const;
  };
  using Ranks = std::map<std::pair<std::vector<int64_t>, ByMeshDim>, Known>;  // by cut, coordinates

  Ranks& known_ranks(const JobConfig& config);
  simulation::RecordedRank known_or_recorded(const JobConfig& config, int64_t rank);
  simulation::RecordedRank record(const JobConfig& config, int64_t rank) const;

  const Setup& inputs_;
  const int64_t steps_;
  const size_t kept_;
  std::deque<std::pair<std::string, Ranks>>
      known_;  // by layout without cut and order, latest first
};

}  // namespace phi::job
