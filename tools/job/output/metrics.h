// Metrics: a line of JSON per step, for plots and for watching a job.
//
//   | {"step": 3, "loss": 4.7, "lr": 0.0003, "grad_norm": 1.9, "tokens_per_s": 4100, ...}
#pragma once

#include <cstdint>
#include <fstream>
#include <string>

#include "api/training/step_result.h"
#include "tools/job/output/progress.h"

namespace phi::job {

class Metrics {
 public:
  /// Appends to the file; an empty path writes nothing. Errors: Unavailable.
  explicit Metrics(const std::string& path);
  void write(int64_t step, const training::StepResult& result, const Progress& progress);

 private:
  std::ofstream out_;
};

}  // namespace phi::job
