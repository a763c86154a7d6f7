// Joins and projections of sparse tables, by sorting.
#include "distributed/planner/elimination/cost_table.h"

#include <algorithm>
#include <numeric>

#include "phi/common/errors.h"

namespace phi::distributed::planner {
namespace {

// Compares two rows by some of their columns.
std::strong_ordering compare(std::span<const Choice> a, const std::vector<int>& columns_of_a,
                             std::span<const Choice> b, const std::vector<int>& columns_of_b) {
  for (size_t i = 0; i < columns_of_a.size(); ++i) {
    const auto order =
        a[static_cast<size_t>(columns_of_a[i])] <=> b[static_cast<size_t>(columns_of_b[i])];
    if (order != 0) return order;
  }
  return std::strong_ordering::equal;
}

// The rows in the order of some columns; rows that are equal there keep their order.
std::vector<size_t> order_by(const CostTable& table, const std::vector<int>& columns) {
  std::vector<size_t> order(table.num_rows());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, [&](size_t i, size_t j) {
    return compare(table.row(i), columns, table.row(j), columns) < 0;
  });
  return order;
}

std::vector<int> columns_of(const CostTable& table, const std::vector<int>& variables) {
  std::vector<int> columns;
  for (const int variable : variables) columns.push_back(table.column_of(variable));
  return columns;
}

}  // namespace

int CostTable::column_of(int variable) const {
  const auto found = std::ranges::find(variables_, variable);
  return found == variables_.end() ? -1 : static_cast<int>(found - variables_.begin());
}

CostTable CostTable::sorted_by(const std::vector<int>& variables) const {
  const std::vector<int> columns = columns_of(*this, variables);
  CostTable out(variables);
  std::vector<Choice> cells(columns.size());
  for (const size_t i : order_by(*this, columns)) {
    for (size_t c = 0; c < columns.size(); ++c) cells[c] = row(i)[static_cast<size_t>(columns[c])];
    out.add(cells, cost(i));
  }
  return out;
}

CostTable CostTable::without_last(std::vector<size_t>* first_rows) const {
  CostTable out({variables_.begin(), variables_.end() - 1});
  const size_t kept = variables_.size() - 1;
  for (size_t i = 0; i < num_rows(); ++i) {
    const bool is_new =
        out.num_rows() == 0 || !std::ranges::equal(row(i).first(kept), out.row(out.num_rows() - 1));
    if (is_new) {
      out.add(row(i).first(kept), cost(i));
      if (first_rows) first_rows->push_back(i);
    } else if (cost(i) < out.costs_.back()) {
      out.costs_.back() = cost(i);
      if (first_rows) first_rows->back() = i;
    }
  }
  return out;
}

CostTable joined(const CostTable& a, const CostTable& b, size_t most_rows) {
  std::vector<int> shared, variables = a.variables(), added;
  for (const int variable : b.variables()) {
    if (a.column_of(variable) >= 0) {
      shared.push_back(variable);
    } else {
      added.push_back(b.column_of(variable));
      variables.push_back(variable);
    }
  }
  const std::vector<int> in_a = columns_of(a, shared), in_b = columns_of(b, shared);
  const std::vector<size_t> order = order_by(b, in_b);
  CostTable out(variables);
  std::vector<Choice> cells(variables.size());
  for (size_t i = 0; i < a.num_rows(); ++i) {
    std::ranges::copy(a.row(i), cells.begin());
    auto match = std::ranges::lower_bound(order, i, [&](size_t of_b, size_t of_a) {
      return compare(b.row(of_b), in_b, a.row(of_a), in_a) < 0;
    });
    for (; match != order.end() && compare(b.row(*match), in_b, a.row(i), in_a) == 0; ++match) {
      for (size_t c = 0; c < added.size(); ++c) {
        cells[a.variables().size() + c] = b.row(*match)[static_cast<size_t>(added[c])];
      }
      PHI_CHECK(out.num_rows() < most_rows,
                errors::ResourceExhausted(
                    "the placements of {} tensors that depend on each other have more than {} "
                    "combinations; fix some of them, or plan fewer layers or mesh dims at once.",
                    variables.size(), most_rows));
      out.add(cells, a.cost(i) + b.cost(*match));
    }
  }
  return out;
}

}  // namespace phi::distributed::planner
