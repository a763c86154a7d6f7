// Prediction: what a job's step takes and holds, as reports and `autophi simulate` write it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <nlohmann/json_fwd.hpp>
#include <optional>
#include <string>
#include <vector>

namespace phi::simulation {

/// The prediction for one rank. Times are of one step after the first.
struct RankPrediction {
  double compute_seconds = 0;
  double exposed_seconds = 0;  // communication that the rank waits for
  double bubble_seconds = 0;   // waiting for other ranks
  int64_t bytes_sent = 0;      // in all steps of the job
  int64_t bytes_received = 0;
  int64_t peak_tensor_bytes = 0;
};

struct Prediction {
  double step_seconds = 0;
  double tokens_per_s = 0;
  std::optional<double> mfu;  // model flops utilisation: of the machine's peak for the job's dtype
  int64_t device_bytes = 0;   // that tensors of a rank can have; 0: unknown
  std::vector<RankPrediction> ranks;
  size_t classes = 0;                 // ranks whose steps are equal are one class
  std::vector<std::string> unlisted;  // operators whose rates are those of matmuls or copies
};

nlohmann::ordered_json to_json(const Prediction& prediction);

/// The step's time, a line for each rank, and unlisted operators.
std::string table(const Prediction& prediction);

}  // namespace phi::simulation
