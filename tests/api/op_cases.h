// Calls of every op, as tables that several tests go through: a new op gets a row here.
#pragma once

#include <functional>
#include <ostream>
#include <set>
#include <string>
#include <vector>

#include "tests/api/parity.h"

namespace phi::testing {

std::vector<ParityCase> elementwise_cases();
std::vector<ParityCase> reduction_cases();
std::vector<ParityCase> product_cases();
std::vector<ParityCase> norm_and_loss_cases();
std::vector<ParityCase> lookup_cases();
std::vector<ParityCase> shape_cases();
/// Ops without tensor inputs, whose results meet a sharded tensor.
std::vector<ParityCase> creation_cases();
std::vector<ParityCase> optimizer_cases();

/// The same at rare extents and groupings of heads (tests/support/rare_values.h).
std::vector<ParityCase> rare_elementwise_cases();
std::vector<ParityCase> rare_reduction_cases();
std::vector<ParityCase> rare_product_cases();
std::vector<ParityCase> rare_norm_and_loss_cases();
std::vector<ParityCase> rare_lookup_cases();
std::vector<ParityCase> rare_shape_cases();
/// At NaN, infinities, the ends of float32, and rows masked whole.
std::vector<ParityCase> rare_number_cases();

/// The most placements that are tried on each mesh.
struct Sampling {
  size_t pair = 400;
  size_t three = 100;
  size_t grid = 60;
};
inline constexpr Sampling kFewPlacements{.pair = 60, .three = 40, .grid = 30};

struct OpTable {
  std::string name;
  std::function<std::vector<ParityCase>()> cases;
  Sampling sampling = {};
  bool is_smooth = true;  // gradients are those of finite differences

  /// In GoogleTest's words, instead of its bytes.
  friend void PrintTo(const OpTable& table, std::ostream* out) { *out << table.name; }
};
/// All of the above, and the tables of records (op_records.h).
const std::vector<OpTable>& op_tables();
/// Those whose gradients are those of finite differences.
std::vector<OpTable> smooth_tables();
/// The ops that one call on its plain inputs runs, by name.
std::set<std::string> ops_run(const std::function<void()>& call);
/// Those of a table's cases that run the op which --op names, all of them without it; with
/// --place=gpu, those that have kernels there.
const std::vector<ParityCase>& chosen_cases(const OpTable& table);

/// Runs a table on a mesh of two of four ranks, of three of three (uneven), and of 2x2 with a rank
/// outside; `seed` draws the placements where there are too many.
void expect_parity_everywhere(const std::vector<ParityCase>& cases, uint32_t seed,
                              const Sampling& sampling = {});

}  // namespace phi::testing
