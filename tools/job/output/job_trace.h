// JobTrace: the trace of a job, all ranks in one file that ui.perfetto.dev opens.
//
//   JobTrace trace(world, "trace.json", {}, stage);   // set-up is traced from here on
//   trace.step(1); ...; trace.step(2); ...            // what is done belongs to this step
//   trace.write();
//
// Clocks: every rank asks rank 0 for the time, there and back, several times; the answers bound how
// far its clock is from rank 0's, and of what the bounds allow the smallest shift is taken. On one
// machine, whose processes share a clock, that is 0 and exact. The file says how wide the bounds
// are.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "distributed/comm/world.h"
#include "phi/core/trace/trace.h"
#include "phi/core/trace/trace_json.h"

namespace phi::job {

/// The steps that are traced, from 1. All of them: also what is done before and after.
struct TracedSteps {
  int64_t first = 0;
  int64_t last = std::numeric_limits<int64_t>::max();

  bool has(int64_t step) const { return first <= step && step <= last; }
};
/// "2:3", or "2" for one; "" is all. Errors: UsageError.
TracedSteps parse_traced_steps(const std::string& text);

class JobTrace {
 public:
  /// Does nothing, now and later, if `path` is empty. Else collective over the world.
  JobTrace(distributed::World& world, std::string path, const TracedSteps& steps, int64_t stage);
  ~JobTrace();
  JobTrace(const JobTrace&) = delete;
  JobTrace& operator=(const JobTrace&) = delete;

  /// From here on the job does this step; 0: none.
  void step(int64_t number);

  /// Ends tracing.
  void stop();
  /// What came of the file, on rank 0.
  struct Written {
    std::string line;   // says what is in it; empty without a trace
    std::string fault;  // why there is none; empty if there is
  };
  /// The same, and rank 0 writes the file. Collective, also where the file cannot be written.
  Written write();
  /// Ends tracing after an error, when the ranks can no longer work together: writes what this
  /// one has to a file of its own. Gives its name; nothing if there is no trace or no file.
  std::string write_alone() noexcept;

 private:
  // How far rank 0's clock may be ahead of a rank's.
  struct ClockBounds {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
    int64_t shift() const { return std::min(std::max<int64_t>(low, 0), high); }
  };
  // What a rank tells rank 0 with its events.
  struct Header {
    int64_t bytes = 0;
    int64_t events = 0;
    int64_t dropped = 0;
  };

  void align_clocks();
  ClockBounds measure(int64_t rank);
  void answer();
  Header header(const std::string& json) const;
  std::string events_as_json() const;
  std::string end_of_file(const Header& sum) const;
  std::string line_about(const Header& sum) const;

  distributed::World& world_;
  const std::string path_;
  const TracedSteps steps_;
  Trace trace_;
  TraceProcess process_;
  std::vector<int64_t> clock_error_ns_;  // on rank 0: by rank
  std::optional<TraceScope> span_;       // of the step
};

}  // namespace phi::job
