// Letters of einsum operands, and the plan of a pair of operands.
#include "phi/kernels/matmul/einsum_labels.h"

#include <algorithm>
#include <iterator>

namespace phi {
namespace {

template <typename Keep>
std::string those(const std::string& letters, Keep&& keep) {
  std::string result;
  std::copy_if(letters.begin(), letters.end(), std::back_inserter(result), keep);
  return result;
}

bool contains(const std::string& letters, char letter) {
  return letters.find(letter) != std::string::npos;
}

}  // namespace

Dims EinsumLabels::extents(const std::string& some) const {
  Dims result;
  for (char letter : some) result.push_back(dims[find(letter)]);
  return result;
}

bool EinsumLabels::is_row_major(const std::string& order) const {
  int64_t step = 1;
  for (auto i = static_cast<int>(order.size()) - 1; i >= 0; --i) {
    const int at = find(order[static_cast<size_t>(i)]);
    if (dims[at] != 1 && strides[at] != step) return false;
    step *= dims[at];
  }
  return true;
}

std::string EinsumLabels::common_letters(const std::string& wanted) const {
  return those(letters, [&](char letter) { return contains(wanted, letter); });
}

std::string EinsumLabels::missing_letters(const std::string& wanted) const {
  return those(letters, [&](char letter) { return !contains(wanted, letter); });
}

EinsumLabels labels_of(const std::string& letters, const Dims& dims) {
  EinsumLabels x;
  const Dims own = dims.strides();
  for (int d = 0; d < dims.ndim(); ++d) {
    const char letter = letters[static_cast<size_t>(d)];
    if (const int at = x.find(letter); at >= 0) {
      x.strides[at] += own[d];
      continue;
    }
    x.letters.push_back(letter);
    x.dims.push_back(dims[d]);
    x.strides.push_back(own[d]);
  }
  return x;
}

PairPlan plan_pair(const EinsumLabels& a, const EinsumLabels& b, const std::string& needed) {
  const std::string shared = a.common_letters(b.letters);
  PairPlan plan;
  plan.batch = those(shared, [&](char letter) { return contains(needed, letter); });
  plan.inner = those(shared, [&](char letter) { return !contains(needed, letter); });
  plan.rows = a.missing_letters(b.letters);
  plan.columns = b.missing_letters(a.letters);
  Dims dims = a.extents(plan.batch + plan.rows);
  for (int64_t extent : b.extents(plan.columns)) dims.push_back(extent);
  plan.result = labels_of(plan.batch + plan.rows + plan.columns, dims);
  return plan;
}

}  // namespace phi
