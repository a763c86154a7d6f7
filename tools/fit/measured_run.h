// Measured training runs of a GPT, one in each line of a CSV file. Its columns are "# GPUs", "global
// batch", "micro batch", "hidden size", "attention heads", "# layers", "sequence length", "tensor
// parallelism", "data parallelism", "pipeline parallelism" and "iteration time (ms)".
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace phi::fit {

struct MeasuredRun {
  int64_t gpus = 0;
  int64_t global_batch = 0;
  int64_t micro_batch = 0;
  int64_t hidden = 0;
  int64_t heads = 0;
  int64_t layers = 0;
  int64_t sequence = 0;
  int64_t tp = 0;
  int64_t dp = 0;
  int64_t pp = 0;
  double milliseconds = 0;  // of an iteration

  int64_t micro_batches() const { return global_batch / (micro_batch * dp); }
};

/// Other columns are ignored. Errors: NotFound; InvalidArgument `FILE:LINE: ...` for a missing
/// column, a field that is no positive number, a run whose sizes do not divide (gpus = tp dp pp,
/// heads by tp, layers by pp, global batch by micro batch times dp), and a file without runs.
std::vector<MeasuredRun> read_runs(const std::string& path);

}  // namespace phi::fit
