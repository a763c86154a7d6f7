// Prediction: what a job's step takes and holds, as reports and `autophi simulate` write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

#include "distributed/simulator/link_bytes.h"
#include "phi/core/storage/memory_ledger.h"

namespace phi::simulation {

/// The prediction for one rank. Times are of one step after the first.
struct RankPrediction {
  double compute_seconds = 0;
  double exposed_seconds = 0;  // communication that the rank waits for
  double bubble_seconds = 0;   // waiting for other ranks
  int64_t bytes_sent = 0;      // in all steps of the job
  int64_t bytes_received = 0;
  distributed::simulator::LinkBytes bytes_by_link;  // sent in the step
  int64_t peak_tensor_bytes = 0;
  MemoryHolders held_at_peak;  // what these bytes are used for
  /// Most bytes that its tensors take from the system or from the GPU, with the unused part of
  /// their blocks, freed blocks that are kept, and scratch memory of kernels; 0: unknown.
  int64_t reserved_bytes = 0;
  /// reserved_bytes, and all other memory of a process on CPUs; 0: unknown.
  int64_t process_bytes = 0;

  friend bool operator==(const RankPrediction&, const RankPrediction&) = default;
};

/// How long a step's flops take if all ranks compute at the machine's peak for the job's dtype.
/// Divided by the time of a step, these are its utilisations.
struct TimeAtPeak {
  double model_seconds = 0;     // flops of the model, each once
  double hardware_seconds = 0;  // flops of all launches, with recomputation

  friend bool operator==(const TimeAtPeak&, const TimeAtPeak&) = default;
};

struct Prediction {
  double step_seconds = 0;
  double tokens_per_s = 0;
  std::optional<TimeAtPeak> at_peak;  // if the machine has a peak
  int64_t device_bytes = 0;           // that tensors of a rank can have; 0: unknown
  std::vector<RankPrediction> ranks;
  std::vector<size_t> class_of;  // by rank; ranks whose steps are equal are one class
  size_t classes = 0;
  size_t recorded_ranks = 0;  // the others do what one of these does
  /// Why ranks differ along a mesh dim, so that those along it are all recorded.
  std::vector<std::string> asymmetries;
  std::vector<std::string> unlisted;  // operators whose rates are those of matmuls or copies
};

/// The most ranks that to_json lists one by one; of more ranks it lists classes.
inline constexpr size_t kMostListedRanks = 1024;

/// `ranks` has an entry with `rank` for each rank. Beyond kMostListedRanks it has one for each
/// class, with `ranks` and `count` in place of `rank`.
nlohmann::ordered_json to_json(const Prediction& prediction);
/// to_json as text, with this number of spaces per level; -1: on one line.
std::string json_text(const Prediction& prediction, int indent = -1);

/// {"mfu": 0.4, "hfu": 0.5} of a step of this length: model and hardware flops utilisation. Both
/// are null without `at_peak`, or if `seconds` is 0.
nlohmann::ordered_json utilisation_json(const std::optional<TimeAtPeak>& at_peak, double seconds);

/// {"weights": 4096, "messages": 128}
nlohmann::ordered_json to_json(const MemoryHolders& holders);
/// "weights 4.0 KiB, messages 128 B"
std::string to_string(const MemoryHolders& holders);

/// The ranks of each class: "0-7, 16-23".
std::vector<std::string> ranks_by_class(const Prediction& prediction);

/// The step's time, a line for each class of ranks, and unlisted operators.
std::string table(const Prediction& prediction);

}  // namespace phi::simulation
