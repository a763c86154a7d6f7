// JobTrace: the trace of a job, all ranks in one file that ui.perfetto.dev opens.
//
//   JobTrace trace(world, "trace.json", {}, stage);   // set-up is traced from here on
//   trace.step(1); ...; trace.step(2); ...            // what is done belongs to this step
//   trace.write();
//
// Clocks: each rank exchanges its time with rank 0 several times. The exchanges bound the offset
// between the two clocks, and the smallest offset within the bounds is applied. On one machine,
// whose processes share a clock, it is exactly 0. The file contains the width of the bounds.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/comm/world.h"
#include "phi/core/observer_scope.h"
#include "phi/core/trace/trace.h"
#include "phi/core/trace/trace_json.h"

namespace phi::job {

/// The traced steps, counted from 1. If all steps are traced, so is what is done before and after.
struct TracedSteps {
  int64_t first = 0;
  int64_t last = std::numeric_limits<int64_t>::max();

  bool has(int64_t step) const { return first <= step && step <= last; }
};
/// Parses "2:3", or "2" for one step; "" means all. Errors: UsageError.
TracedSteps parse_traced_steps(const std::string& text);

class JobTrace {
 public:
  /// Does nothing, also later, if `path` is empty. Otherwise collective over the world.
  JobTrace(distributed::World& world, std::string path, const TracedSteps& steps, int64_t stage);
  ~JobTrace();
  JobTrace(const JobTrace&) = delete;
  JobTrace& operator=(const JobTrace&) = delete;

  /// Sets the job's keys and values, a JSON object that the file will contain.
  void set_job(std::string json) { job_ = std::move(json); }
  /// Sets the current step of the job; 0: none.
  void step(int64_t number);

  /// Stops tracing.
  void stop();
  /// The result of write(), on rank 0.
  struct Written {
    std::string line;   // describes the file; empty without a trace
    std::string fault;  // why it was not written; empty if it was
  };
  /// Stops tracing, and rank 0 writes the file. Collective, even if the file cannot be written.
  Written write();
  /// Stops tracing after an error, when ranks can no longer communicate, and writes this rank's
  /// trace to its own file. Returns the file's name; empty if there is no trace or no file.
  std::string write_alone() noexcept;

 private:
  // Bounds on the offset of rank 0's clock relative to a rank's.
  struct ClockBounds {
    int64_t low = std::numeric_limits<int64_t>::min();
    int64_t high = std::numeric_limits<int64_t>::max();
    int64_t shift() const { return std::min(std::max<int64_t>(low, 0), high); }
  };
  // Sent to rank 0 before the events.
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
  std::string job_ = "{}";
  const TracedSteps steps_;
  Trace trace_;
  TraceProcess process_;
  std::vector<int64_t> clock_error_ns_;  // on rank 0, by rank
  std::optional<ObserverScope> scope_;   // while the current step is traced
  std::optional<TraceScope> span_;       // the current step
};

}  // namespace phi::job
