// Unrolls scans trip by trip, with separate buffers for each trip.
#include "api/capture/flatten.h"

#include <unordered_map>
#include <utility>

#include "phi/common/errors.h"

namespace phi::ir {
namespace {

// Maps the buffers of a body to those of one trip.
using Trip = std::unordered_map<BufferId, BufferId>;

class Flattener {
 public:
  explicit Flattener(Recording& recording) : recording_(recording) {
    flat_.buffers = recording.buffers();
  }

  FlatProgram run() {
    for (RecordedStep& step : recording_.steps()) {
      append(step.before);
      if (step.scan) {
        repeat(*step.scan);
      } else {
        add({step.name, std::move(step.step), step.uses, nullptr, step.op});
      }
    }
    append(recording_.trailing_ops());
    flat_.trailing_ops = std::move(ops_);
    return std::move(flat_);
  }

 private:
  void repeat(const RecordedScan& scan) {
    auto& trips = trips_[scan.body];
    trips.resize(static_cast<size_t>(scan.trips));
    BufferId carried = scan.first;
    for (int64_t i = 0; i < scan.trips; ++i) {
      const int64_t number = scan.reversed ? scan.trips - 1 - i : i;
      const bool is_last = i == scan.trips - 1;
      Trip& trip = trips[static_cast<size_t>(number)];
      if (scan.follows >= 0) trip = trips_.at(scan.follows)[static_cast<size_t>(number)];
      trip[scan.carried_in] = carried;
      for (const auto& [inner, outer] : scan.per_trip) {
        if (inner != kNoBuffer) trip[inner] = outer[static_cast<size_t>(number)];
      }
      check_result(scan, trip);
      if (is_last) trip[scan.carried_out] = scan.last;
      for (const RecordedStep& step : recording_.steps(scan.body)) add(step, trip);
      append(recording_.trailing_ops(scan.body));
      carried = resolve(scan.carried_out, trip);
    }
  }

  // The last trip writes to the buffer of the scan's result, so a step of the body must write it.
  static void check_result(const RecordedScan& scan, const Trip& trip) {
    PHI_CHECK(!trip.contains(scan.carried_out) || scan.carried_out == kNoBuffer,
              errors::Unimplemented(
                  "scan: the function returns an array that it was passed; return a new one."));
  }

  void append(const TracedOps& ops) { ops_.insert(ops_.end(), ops.begin(), ops.end()); }

  void add(RecordedStep step) {
    step.before = std::exchange(ops_, {});
    flat_.steps.push_back(std::move(step));
  }

  void add(const RecordedStep& step, Trip& trip) {
    append(step.before);
    RecordedStep copy{step.name, step.step->clone(), step.uses, nullptr, step.op};
    for (BufferUse& use : copy.uses) {
      if (use.buffer != kNoBuffer) use.buffer = resolve(use.buffer, trip);
    }
    add(std::move(copy));
  }

  BufferId resolve(BufferId buffer, Trip& trip) {
    if (buffer == kNoBuffer) return buffer;
    const auto found = trip.find(buffer);
    if (found != trip.end()) return found->second;
    const ProgramBuffer of_body = flat_.buffers[index_of(buffer)];
    if (of_body.body < 0) return buffer;
    const BufferId own = buffer_id(flat_.buffers.size());
    flat_.buffers.push_back({of_body.nbytes, nullptr, -1});
    trip[buffer] = own;
    return own;
  }

  Recording& recording_;
  FlatProgram flat_;
  TracedOps ops_;                                     // since the last step
  std::unordered_map<int, std::vector<Trip>> trips_;  // by body
};

}  // namespace

FlatProgram flatten(Recording& recording) { return Flattener(recording).run(); }

}  // namespace phi::ir
