// Labels: arrays whose dims have letters, as products in Einstein's notation see them; and how two
// of them become a batch of matrix products, on every device.
//
//   const Labels a = labels_of("iij", {3, 3, 4});  // "ij" [3, 4], strides {16, 1}
//   const Labels b = labels_of("jk", {4, 2});
//   const PairPlan plan = plan_pair(a, b, "ik");  // what is batch, what is summed
#pragma once

#include <cstdint>
#include <string>

#include "phi/common/dims.h"

namespace phi {

/// The letters of an array, each once, with their extents and strides.
struct Labels {
  std::string letters;
  Dims dims;
  Dims strides;

  /// Which dim has this letter; -1: none.
  int find(char letter) const {
    const size_t at = letters.find(letter);
    return at == std::string::npos ? -1 : static_cast<int>(at);
  }
  bool has(char letter) const { return find(letter) >= 0; }

  /// The extents of some of them.
  Dims extents(const std::string& some) const;
  /// Steps along `order` are those of a row-major array of these letters.
  bool is_row_major(const std::string& order) const;
  /// Those that `wanted` has, in their own order; those that it lacks.
  std::string those_in(const std::string& wanted) const;
  std::string those_not_in(const std::string& wanted) const;
};

/// A row-major array, of which letters that are there twice take the diagonal.
Labels labels_of(const std::string& letters, const Dims& dims);

/// How a b is summed over the letters that are needed no more: matrices [rows, inner] and
/// [inner, columns] for each element of `batch`, all groups of letters.
struct PairPlan {
  std::string batch;
  std::string inner;
  std::string rows;
  std::string columns;
  Labels result;  // row-major, in the order batch, rows, columns
};
PairPlan plan_pair(const Labels& a, const Labels& b, const std::string& needed);

}  // namespace phi
