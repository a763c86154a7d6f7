// Joins and projections of sparse tables, by sorting.
#include "distributed/planner/elimination/cost_table.h"

#include <algorithm>
#include <bit>
#include <numeric>

#include "phi/common/errors.h"

namespace phi::distributed::planner {
namespace {

// Some columns of a row as one number, in the rows' lexicographical order.
using Key = unsigned __int128;

// The keys of a table's rows. Each column takes `bits` bits.
std::vector<Key> keys_of(const CostTable& table, const std::vector<int>& columns, int bits) {
  std::vector<Key> keys(table.num_rows());
  for (size_t i = 0; i < keys.size(); ++i) {
    for (const int c : columns) keys[i] = (keys[i] << bits) | table.row(i)[static_cast<size_t>(c)];
  }
  return keys;
}

// Bits of the largest value in these columns.
int bits_of(const CostTable& table, const std::vector<int>& columns) {
  Choice most = 0;
  for (size_t i = 0; i < table.num_rows(); ++i) {
    for (const int c : columns) most = std::max(most, table.row(i)[static_cast<size_t>(c)]);
  }
  return std::bit_width(most);
}

void check_bits(int bits, size_t columns) {
  PHI_CHECK(static_cast<size_t>(bits) * columns <= 8 * sizeof(Key),
            errors::ResourceExhausted(
                "the placements of {} tensors depend on each other, which is too many; fix some of "
                "them, or plan fewer layers or mesh dims at once.",
                columns));
}

// The rows in the order of their keys; rows of equal keys keep their order.
std::vector<size_t> order_by(const std::vector<Key>& keys) {
  std::vector<size_t> order(keys.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, [&](size_t i, size_t j) {
    return keys[i] < keys[j] || (keys[i] == keys[j] && i < j);
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
  const int bits = bits_of(*this, columns);
  check_bits(bits, columns.size());
  CostTable out(variables);
  std::vector<Choice> cells(columns.size());
  for (const size_t i : order_by(keys_of(*this, columns, bits))) {
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
  const int bits = std::max(bits_of(a, in_a), bits_of(b, in_b));
  check_bits(bits, shared.size());
  const std::vector<Key> keys_of_a = keys_of(a, in_a, bits), keys_of_b = keys_of(b, in_b, bits);
  const std::vector<size_t> order = order_by(keys_of_b);
  CostTable out(variables);
  std::vector<Choice> cells(variables.size());
  for (size_t i = 0; i < a.num_rows(); ++i) {
    std::ranges::copy(a.row(i), cells.begin());
    auto match = std::ranges::lower_bound(order, keys_of_a[i], {},
                                          [&](size_t row) { return keys_of_b[row]; });
    for (; match != order.end() && keys_of_b[*match] == keys_of_a[i]; ++match) {
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
