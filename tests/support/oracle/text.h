// The text of a job and the samples that are drawn from it (docs/training_step.md, "Batches").
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace oracle {

/// All text at these paths, read whole.
std::string read_text(const std::vector<std::string>& paths);

/// Rows of ids and of the ids that follow them, one row after the other.
struct Batch {
  int64_t rows = 0;
  int64_t seq_len = 0;
  std::vector<int64_t> ids;
  std::vector<int64_t> labels;
};

/// Samples first to first + rows - 1.
Batch draw(const std::string& text, uint64_t seed, int64_t first, int64_t rows, int64_t seq_len);

}  // namespace oracle
