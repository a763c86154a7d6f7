// Calls of every op, as tables that several tests go through.
#pragma once

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/api/parity.h"

namespace phi::testing {

/// At NaN, infinities, the ends of float32, and rows masked whole.
std::vector<ParityCase> rare_number_cases();

struct OpTable {
  std::string name;
  std::function<std::vector<ParityCase>()> cases;
  bool is_smooth = true;  // gradients are those of finite differences

  /// In GoogleTest's words, instead of its bytes.
  friend void PrintTo(const OpTable& table, std::ostream* out) { *out << table.name; }
};
/// The tables of records (op_records.h), and rare numbers.
const std::vector<OpTable>& op_tables();
/// Those whose gradients are those of finite differences.
std::vector<OpTable> smooth_tables();
/// The ops that one call on its plain inputs runs, by name.
std::set<std::string> ops_run(const std::function<void()>& call);
/// Those of a table's cases that run the op which --op names, all of them without it; with
/// --place=gpu, those that have kernels there.
const std::vector<ParityCase>& chosen_cases(const OpTable& table);

/// Runs a table on a mesh of two of four ranks, of three of three (uneven), and of 2x2 with a rank
/// outside; `seed` draws the placements where there are more than 400, 100 and 60.
void expect_parity_everywhere(const std::vector<ParityCase>& cases, uint32_t seed);

}  // namespace phi::testing
