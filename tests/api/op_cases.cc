// The tables of calls, and the placements that each is tried with.
#include "tests/api/op_cases.h"

#include <gflags/gflags.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <iterator>
#include <map>
#include <random>

#include "api/generated/ops/scale.h"
#include "api/generated/ops/slice_scatter.h"
#include "api/testing/generate_tensor.h"
#include "phi/core/observer_scope.h"
#include "phi/core/rank_context.h"
#include "phi/core/trace/trace.h"
#include "tests/api/op_records.h"

DEFINE_uint32(most, 100000, "maximum number of placements to try for a call on each mesh");
DEFINE_string(op, "", "only calls that run this operator, by its name in the YAML");

namespace phi::testing {

using distributed::ProcessMesh;

namespace {

// No call by name writes in place what is not declared so.
std::vector<ParityCase> inplace_cases() {
  return {{"slice_scatter_",
           {generate_tensor("f32[5,4]", 1), generate_tensor("f32[5,1]", 2)},
           [](const TensorList& in) {
             Tensor written = scale(in[0], 1.0);
             slice_scatter_(written, in[1], {1}, {2}, {3});
             return TensorList{written};
           }}};
}

}  // namespace

const std::vector<OpTable>& op_tables() {
  static const std::vector<OpTable> tables = [] {
    std::vector<OpTable> all = tables_of_records();
    all.push_back({"InPlace", inplace_cases});
    // NaN, infinities, rows masked whole and ties have no differences.
    all.push_back({"RareNumbers", rare_number_cases, /*is_smooth=*/false});
    return all;
  }();
  return tables;
}

std::set<std::string> ops_run(const std::function<void()>& call) {
  Trace trace;
  {
    const ObserverScope scope(trace);
    call();
  }
  EXPECT_EQ(trace.dropped(), 0u);
  std::set<std::string> names;
  for (size_t i = 0; i < trace.size(); ++i) {
    if (trace[i].kind == TraceKind::kOp) names.insert(trace[i].name);
  }
  return names;
}

const std::vector<ParityCase>& chosen_cases(const OpTable& table) {
  static std::map<std::string, std::vector<ParityCase>> chosen;
  const auto [at, is_new] = chosen.try_emplace(table.name);
  std::vector<ParityCase>& cases = at->second;
  if (!is_new) return cases;
  cases = table.cases();
  std::erase_if(cases, [](const ParityCase& test) { return !has_kernels_here(test); });
  if (!FLAGS_op.empty()) {
    std::erase_if(cases, [](const ParityCase& test) {
      return !ops_run([&] { test.call(test.inputs); }).contains(FLAGS_op);
    });
  }
  return cases;
}

std::vector<OpTable> smooth_tables() {
  std::vector<OpTable> smooth;
  std::ranges::copy_if(op_tables(), std::back_inserter(smooth), &OpTable::is_smooth);
  return smooth;
}

void expect_parity_everywhere(const std::vector<ParityCase>& cases, uint32_t seed) {
  std::mt19937 rng(seed);
  SCOPED_TRACE("--seed=" + std::to_string(seed));
  // Two of four ranks; three of three, uneven; four of five as 2x2 with a rank outside.
  const ProcessMesh pair({2}, {"x"}, {1, 3}), three({3}, {"x"}),
      grid({2, 2}, {"x", "y"}, {0, 1, 3, 4});
  const auto choices = [&](const ParityCase& test, int mesh_ndim, size_t most) {
    return placement_choices(test.inputs, mesh_ndim, test.partial,
                             std::min<size_t>(most, FLAGS_most), rng);
  };
  for (const ParityCase& test : cases) {
    expect_parity(test, pair, 4, choices(test, 1, 400));
    expect_parity(test, three, 3, choices(test, 1, 100));
    expect_parity(test, grid, 5, choices(test, 2, 60));
  }
}

}  // namespace phi::testing
