// Prediction: what a job's step takes and holds, as reports and `autophi simulate` write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "phi/core/storage/memory_ledger.h"

namespace phi::simulation {

/// The prediction for one rank. Times are of one step after the first.
struct RankPrediction {
  double compute_seconds = 0;
  double exposed_seconds = 0;  // communication that the rank waits for
  double bubble_seconds = 0;   // waiting for other ranks
  int64_t bytes_sent = 0;      // in all steps of the job
  int64_t bytes_received = 0;
  int64_t peak_tensor_bytes = 0;
  MemoryHolders held_at_peak;  // what these bytes are used for
};

struct Prediction {
  double step_seconds = 0;
  double tokens_per_s = 0;
  std::vector<RankPrediction> ranks;
  size_t classes = 0;                 // ranks whose steps are equal are one class
  std::vector<std::string> unlisted;  // operators whose rates are those of matmuls or copies
};

nlohmann::ordered_json to_json(const Prediction& prediction);

/// {"weights": 4096, "messages": 128}
nlohmann::ordered_json to_json(const MemoryHolders& holders);
/// "weights 4.0 KiB, messages 128 B"
std::string to_string(const MemoryHolders& holders);

/// The step's time, a line for each rank, and unlisted operators.
std::string table(const Prediction& prediction);

}  // namespace phi::simulation
