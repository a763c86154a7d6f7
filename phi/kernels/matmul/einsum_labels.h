// EinsumLabels: arrays whose dims have letters, as in einsum, and how a pair of them becomes a
// batched matmul. Shared by all devices.
//
//   const EinsumLabels a = labels_of("iij", {3, 3, 4});  // "ij" [3, 4], strides {16, 1}
//   const EinsumLabels b = labels_of("jk", {4, 2});
//   const PairPlan plan = plan_pair(a, b, "ik");  // what is batch, what is summed
#pragma once

#include <cstdint>
#include <string>

#include "phi/common/dims.h"

namespace phi {

/// The distinct letters of an array, with their extents and strides.
struct EinsumLabels {
  std::string letters;
  Dims dims;
  Dims strides;

  /// The dim with this letter; -1 if there is none.
  int find(char letter) const {
    const size_t at = letters.find(letter);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  }
  bool has(char letter) const { return find(letter) >= 0; }

  /// The extents of the letters in `some`.
  Dims extents(const std::string& some) const;
  /// Whether the strides in `order` are those of a row-major array of these letters.
  bool is_row_major(const std::string& order) const;
  /// The letters that `wanted` has, in this array's order; and those that it lacks.
  std::string common_letters(const std::string& wanted) const;
  std::string missing_letters(const std::string& wanted) const;
};

/// The labels of a row-major array. A repeated letter selects the diagonal.
EinsumLabels labels_of(const std::string& letters, const Dims& dims);

/// The plan of a b, summed over the letters that are no longer needed: for each element of `batch`,
/// a matmul of [rows, inner] and [inner, columns]. Each of these is a group of letters.
struct PairPlan {
  std::string batch;
  std::string inner;
  std::string rows;
  std::string columns;
  EinsumLabels result;  // row-major, in the order batch, rows, columns
};
PairPlan plan_pair(const EinsumLabels& a, const EinsumLabels& b, const std::string& needed);

}  // namespace phi
