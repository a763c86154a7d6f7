// Two checkpoints, tensor by tensor.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/checkpoint/checkpoint.h"

namespace phi::distributed::checkpoint {

struct TensorDifference {
  enum class Kind : uint8_t {
    kMissing,  // in the second
    kExtra,    // in the second alone
    kMeta,     // shapes, or dtypes that do not convert
    kValues,
  };
  std::string name;
  Kind kind = Kind::kValues;
  // Of kValues:
  int64_t elements = 0;  // that differ
  double largest = 0;    // |a - b|; infinite where one of them alone is not a number
  double relative = 0;   // largest |a - b| / max(|a|, |b|)
  int64_t where = 0;     // the first element of the largest difference, in row-major order

  /// "differs in 3 of 6 elements, ..."
  std::string to_string(const Checkpoint& a, const Checkpoint& b) const;
};

/// Those that are not the same in both, in alphabetical order. Elements are compared as numbers, so
/// a dtype may differ from the other; two that are no numbers are the same.
/// Errors: those of reading.
std::vector<TensorDifference> compare(const Checkpoint& a, const Checkpoint& b);

}  // namespace phi::distributed::checkpoint
