// RankRecords: records ranks of jobs that differ in their layout. A rank of a pipeline is recorded
// with one layer in each chunk of other stages (shorten_other_stages).
#pragma once

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include "api/simulation/record_world.h"
#include "tools/job/setup.h"

namespace phi::job {

class RankRecords {
 public:
  /// Records jobs of this many steps with the data and weights of `inputs`, which must outlive
  /// this. Keeps the records of the last `kept` layouts for others that differ in their cut alone.
  RankRecords(const Setup& inputs, int64_t steps, size_t kept = 0)
      : inputs_(inputs), steps_(steps), kept_(kept) {}

  /// The record of a rank of a job with this config. Errors: those of the job's operators.
  simulation::RecordedRank of(const JobConfig& config, int64_t rank);

 private:
  using Ranks = std::map<std::pair<std::vector<int64_t>, int64_t>, simulation::RecordedRank>;

  simulation::RecordedRank known_or_recorded(const JobConfig& config, int64_t rank);
  simulation::RecordedRank record(const JobConfig& config, int64_t rank) const;

  const Setup& inputs_;
  const int64_t steps_;
  const size_t kept_;
  std::deque<std::pair<std::string, Ranks>> known_;  // by layout without its cut, latest first
};

}  // namespace phi::job
