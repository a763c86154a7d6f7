// Metrics: a line of JSON per step, for plots and for watching a job.
//
//   | {"step": 3, "loss": 4.7, "lr": 0.0003, "grad_norm": 1.9, "tokens_per_s": 4100, ...}
#pragma once

#include <cstdint>
#include <string>

#include "api/training/progress.h"
#include "api/training/step_result.h"

namespace phi::job {

/// The line of a step, as the calling rank saw it.
std::string metrics_line(int64_t step, const training::StepResult& result,
                         const training::Progress& progress);

class Metrics {
 public:
  /// Opens a file for appending; an empty path writes nothing. Errors: Unavailable.
  explicit Metrics(const std::string& path);
  ~Metrics();
  Metrics(const Metrics&) = delete;
  Metrics& operator=(const Metrics&) = delete;

  /// Appends a line. A line that cannot be written is omitted as a whole; the first one is reported
  /// on standard error.
  void write(const std::string& line);

  /// "the metrics 'm.jsonl' lack 3 of 10 steps: ..."; empty if all were written.
  std::string fault() const;

 private:
  std::string path_;
  int fd_ = -1;
  int reason_ = 0;  // of the first missing line
  int64_t lines_ = 0;
  int64_t missing_ = 0;
};

/// Errors: Unavailable if Metrics could not append there.
void check_appendable(const std::string& path, const std::string& what);

}  // namespace phi::job
