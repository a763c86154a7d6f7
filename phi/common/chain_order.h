// ChainOrder: the order in which a chain of matmuls needs the fewest multiplications.
//
//   const ChainOrder order({10, 100, 5, 50});   // matrices [10, 100], [100, 5], [5, 50]
//   order.cut(0, 2) == 1;                       // the first two, then the third
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

namespace phi {

class ChainOrder {
 public:
  /// Matrix i is [extents[i], extents[i + 1]].
  explicit ChainOrder(const std::vector<int64_t>& extents);

  /// The index of the last matrix in the left factor of the matmul of matrices i to j.
  size_t cut(size_t i, size_t j) const { return cut_[i * size_ + j]; }
  /// Multiplications of numbers in the whole chain.
  double multiplications() const { return cost_[size_ - 1]; }

 private:
  size_t size_;
  std::vector<size_t> cut_;
  std::vector<double> cost_;  // of matrices i to j
};

}  // namespace phi
