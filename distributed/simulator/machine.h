// MachineModel: how fast a machine computes and sends, as measured by `autophi calibrate`.
//
//   const double seconds = machine.time_of({"matmul", DataType::FLOAT32, 2e9, 3e6}).seconds;
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <tuple>
#include <vector>

#include "distributed/simulator/rank_program.h"
#include "phi/common/dtype.h"

namespace phi::distributed::simulator {

/// A measured rate: a launch of `work` (flops or bytes) proceeds at `per_second`.
struct RatePoint {
  double work = 0;
  double per_second = 0;

  friend bool operator==(const RatePoint&, const RatePoint&) = default;
};

/// The time of a launch of exactly this size.
struct SizeTime {
  double flops = 0;
  double bytes = 0;    // read and written
  double seconds = 0;  // its overhead included

  friend bool operator==(const SizeTime&, const SizeTime&) = default;
};

/// The quantity to which the time of an operator is proportional.
enum class WorkUnit : uint8_t { kFlops, kBytes };

/// Operators of one speed.
struct OpFamily {
  std::string name;
  std::vector<std::string> ops;
  WorkUnit by = WorkUnit::kBytes;
  std::vector<RatePoint> points;  // one or more, by increasing work
  std::vector<SizeTime> sizes{};  // used instead of points; by increasing flops, then bytes

  /// Linear in log(work) and log(rate) between two points, constant outside them.
  double per_second(double work) const;
  /// The time of a launch of this size, if it is among `sizes`; null otherwise.
  const SizeTime* time_of(double flops, double bytes) const;
  friend bool operator==(const OpFamily&, const OpFamily&) = default;
};

/// The links between units of a machine: two ranks in one unit of `size` ranks use it, unless a
/// level before it connects them.
struct LinkLevel {
  std::string name;
  int64_t size = 0;       // ranks of a unit; 0: any number, in the last level
  double latency_us = 0;  // of a message
  double GBps = 0;        // in each direction of one link, 1e9 bytes per second
  int64_t shared_by = 1;  // ranks that share one link of this level: 0 to shared_by - 1, and so on
  int line = 0;           // in the machine file, for messages; 0: none

  /// Rate at which a rank receives if all ranks that share its link do at once.
  double rank_GBps() const { return GBps / static_cast<double>(shared_by); }
  /// Compares all but `line`.
  friend bool operator==(const LinkLevel& a, const LinkLevel& b) {
    const auto values = [](const LinkLevel& level) {
      return std::tie(level.name, level.size, level.latency_us, level.GBps, level.shared_by);
    };
    return values(a) == values(b);
  }
};

/// How the members of a group exchange messages in a collective.
enum class Collectives : uint8_t {
  kDirect,    // every member sends to every other: MPI and local worlds (distributed/comm/group.h)
  kNccl,      // rings and trees (nccl_transfer.h)
  kNcclExact  // gathers as kNccl; reductions and broadcasts as kDirect, with NCCL's messages. No
              // machine file has it: a job with `run.reduction: exact` makes it of kNccl
};

/// A measured collective.
struct TimePoint {
  double bytes = 0;  // GroupCall::bytes
  double seconds = 0;

  friend bool operator==(const TimePoint&, const TimePoint&) = default;
};

/// Measured times of a collective, which are used instead of a formula.
struct CollectivePoints {
  std::string op;                 // "all_reduce"
  int64_t ranks = 0;              // of the group
  std::string level;              // the outermost level that the group uses
  std::vector<TimePoint> points;  // one or more, by increasing bytes

  /// Linear in log(bytes) and log(seconds) between two points. Fewer bytes than the first point
  /// take its time; more than the last proceed at its rate.
  double seconds(double bytes) const;
  friend bool operator==(const CollectivePoints&, const CollectivePoints&) = default;
};

/// Families that each dtype has; operators that no family lists use their rates.
inline constexpr const char* kMatmulFamily = "matmul";
inline constexpr const char* kBytesFamily = "bytes";

/// The error of predictions on a machine whose file does not state one.
inline constexpr double kDefaultPredictionError = 0.1;

struct MachineModel {
  std::string file = "the machine";  // in messages
  std::string device = "cpu";
  double memory_GiB = 0;                   // of one device; 0: unknown
  double reserved_GiB = 0;                 // part of it that tensors cannot have: driver, libraries
  double pool_share = 0;                   // unused memory of a GPU's pool / memory of its blocks
  double scratch_MiB = 0;                  // most scratch memory of float32 kernels; 0: unknown
  double process_MiB = 0;                  // memory of a process besides its tensors; 0: unknown
  double memory_GBps = 0;                  // no launch reads and writes faster; 0: no such limit
  std::map<DataType, double> peak_TFLOPS;  // of one device, by dtype of matmuls; for utilisation
  double cores = 0;                        // that the ranks share; 0: each rank has its own
  double launch_overhead_us = 0;           // of a launch, however little it computes
  double issue_us = 0;     // of the host, for a launch or call: it runs ahead of the device
  double reduce_GBps = 0;  // at which a reduction combines received bytes; 0: at no cost
  Collectives collectives = Collectives::kDirect;
  double call_overhead_us = 0;  // of a collective or an exchange, however little it sends
  std::vector<CollectivePoints> collective_points;
  // While a message arrives at a rank that computes, relative to when it does one of both.
  double receiving_rate = 1;     // of the message; 0: it arrives while the rank waits for it, only
  double computing_rate = 1;     // of the computation
  std::vector<LinkLevel> links;  // from the inside out
  std::map<DataType, std::vector<OpFamily>> families;
  /// Relative difference of two predicted steps below which either may be the shorter one.
  double prediction_error = kDefaultPredictionError;

  struct Time {
    double seconds = 0;
    bool is_listed = true;  // false: no family lists the operator
  };
  /// The time of a launch: that of its size if its family has it; otherwise its overhead, and its
  /// work at the rate of its family, but not less than its bytes at memory_GBps. One without flops,
  /// in a dtype without families, uses the rates of float32. Errors: InvalidArgument for flops in a
  /// dtype without families.
  Time time_of(const Computation& computation) const;
  /// Bytes that the tensors of one rank may occupy: of memory_GiB - reserved_GiB, without the
  /// unused part of the pool. 0: unknown.
  int64_t tensor_memory_bytes() const;
  /// By what factor launches take longer if this many ranks share the cores and all compute.
  double slowdown(int64_t ranks) const;
  /// Whether a core of the receiver's has to receive messages: less than half of one arrives while
  /// the rank computes (receiving_rate).
  bool receives_by_core() const { return receiving_rate < 0.5; }
  /// The points of a collective of this many ranks; null if there are none.
  const CollectivePoints* points_of(std::string_view op, int64_t ranks,
                                    std::string_view outermost_level) const;
  /// The level that connects two ranks. Errors: InvalidArgument if there is none.
  const LinkLevel& link_between(int64_t a, int64_t b) const;

  friend bool operator==(const MachineModel&, const MachineModel&) = default;
};

}  // namespace phi::distributed::simulator
