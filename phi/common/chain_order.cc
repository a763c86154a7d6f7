// Matrix-chain multiplication by dynamic programming (Cormen et al., "Introduction to Algorithms").
#include "phi/common/chain_order.h"

#include <limits>

namespace phi {

ChainOrder::ChainOrder(const std::vector<int64_t>& extents)
    : size_(extents.size() - 1), cut_(size_ * size_), cost_(size_ * size_) {
  const auto extent = [&](size_t i) { return static_cast<double>(extents[i]); };
  for (size_t length = 1; length < size_; ++length) {
    for (size_t i = 0; i + length < size_; ++i) {
      const size_t j = i + length;
      double least = std::numeric_limits<double>::infinity();
      for (size_t at = i; at < j; ++at) {
        const double work = extent(i) * extent(at + 1) * extent(j + 1);
        const double total = cost_[i * size_ + at] + cost_[(at + 1) * size_ + j] + work;
        if (total >= least) continue;
        least = total;
        cut_[i * size_ + j] = at;
      }
      cost_[i * size_ + j] = least;
    }
  }
}

}  // namespace phi
