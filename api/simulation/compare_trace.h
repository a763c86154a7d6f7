// Compares a simulated step with the trace of a real one (autophi run --trace).
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "distributed/simulator/simulate.h"
#include "distributed/simulator/world_programs.h"

namespace phi::simulation {

/// The launches of an operator in a step, of all ranks.
struct ComparedOp {
  std::string op;
  int64_t count = 0;
  double predicted = 0;  // seconds
  double measured = 0;
};

class MeasuredTrace {
 public:
  /// Reads a file. If it has several steps, the first one is not measured.
  /// Errors: Unavailable if it cannot be read; InvalidArgument, naming the file, if it is no trace
  /// of `autophi run`, or dropped events.
  static MeasuredTrace read(const std::string& path);

  const std::string& path() const { return path_; }
  /// The job's keys and values.
  const std::map<std::string, std::string>& job() const { return job_; }
  /// The operators whose predicted time differs the most, at most `most`, by that difference.
  /// `step` has a timeline. Errors: InvalidArgument, naming the file, if the trace does not have
  /// the ranks of the world, or if a rank launches an operator less often than predicted.
  std::vector<ComparedOp> worst(const distributed::simulator::WorldPrograms& world,
                                const distributed::simulator::SimulatedStep& step,
                                size_t most) const;

 private:
  struct Measured {
    int64_t count = 0;
    double seconds = 0;
  };

  std::string path_;
  std::map<std::string, std::string> job_;
  int64_t steps_ = 0;                                      // that are measured
  std::map<size_t, std::map<std::string, Measured>> ops_;  // by rank, of all measured steps
};

/// A line for each operator.
std::string table(const std::vector<ComparedOp>& ops);

}  // namespace phi::simulation
