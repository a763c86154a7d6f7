// Compares two checkpoints tensor by tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/checkpoint/checkpoint.h"

namespace phi::distributed::checkpoint {

struct TensorDifference {
  enum class Kind : uint8_t {
    kMissing,  // not in the second checkpoint
    kExtra,    // only in the second checkpoint
    kMeta,     // different shapes, or dtypes that do not convert
    kValues,
  };
  std::string name;
  Kind kind = Kind::kValues;
  // For kValues:
  int64_t elements = 0;  // number of different elements
  double largest = 0;    // |a - b|; infinite if exactly one of them is NaN
  double relative = 0;   // largest |a - b| / max(|a|, |b|)
  int64_t where = 0;     // the first element of the largest difference, in row-major order

  /// "differs in 3 of 6 elements, ..."
  std::string to_string(const Checkpoint& a, const Checkpoint& b) const;
};

/// Returns the tensors that differ, in alphabetical order. Elements are compared as numbers, so
/// dtypes may differ; two NaN are equal. Errors: those of reading.
std::vector<TensorDifference> compare(const Checkpoint& a, const Checkpoint& b);

}  // namespace phi::distributed::checkpoint
