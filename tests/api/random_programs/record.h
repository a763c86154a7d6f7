// What one rank sees of a life of a case: all results, parameters and outcomes of all its runs, as
// plain numbers.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "case.h"

namespace phi::testing::programs {

struct Entry {
  std::string what;                                   // "result 2 of run 0"
  std::string outcome;                                // what happened, for what is no tensor
  TensorMeta meta;                                    // global
  const distributed::TensorDistAttr* attr = nullptr;  // as it was given; null: plain
  bool is_here = true;                                // this rank has a part of it
  Box part;                                           // which
  std::vector<double> values;                         // its elements; partial values summed up
};
using Record = std::vector<Entry>;

/// Collective where x is partial.
Entry entry_of(std::string what, const Tensor& x);
Entry entry_of(std::string what, std::string outcome);

/// How two entries may differ.
struct Difference {
  std::string what;  // "values of result"
  std::string text;
};
/// The same bits, placements and outcomes; with `rounded`, values up to the last few bits.
std::optional<Difference> difference(const Record& actual, const Record& expected, bool rounded);
/// `actual` are parts of what `expected` has whole, up to rounding.
std::optional<Difference> difference_of_parts(const Record& actual, const Record& expected);

}  // namespace phi::testing::programs
