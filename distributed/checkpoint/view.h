// A view: the tensors of a checkpoint under other names, transposed, or with rows or columns in
// another order. It is a Checkpoint itself. A read touches only the elements of its box, wherever
// they are in the underlying checkpoint.
//
//   const Checkpoint ours = view(open("theirs"), {
//       {.name = "up.weight", .source = "fc1.weight", .transposed = true},
//       {.name = "up.bias", .source = "fc1.bias"}});
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "distributed/checkpoint/checkpoint.h"

namespace phi::distributed::checkpoint {

/// A permutation of the indices along one tensor dim. The view counts them as [outer, rows,
/// columns, inner]; in the underlying checkpoint rows and columns are swapped. Example: if the
/// columns of q, k and v are ordered by head in the view and [q|k|v] underneath, use {.rows =
/// heads, .columns = 3, .inner = head size}.
struct Interleave {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t inner = 1;

  int64_t block() const { return rows * columns * inner; }
  bool is_identity() const { return rows == 1 || columns == 1; }
  /// The underlying index of index i.
  int64_t source_of(int64_t i) const {
    const int64_t column = i / inner % columns;
    const int64_t row = i / (inner * columns) % rows;
    return i / block() * block() + (column * rows + row) * inner + i % inner;
  }
  /// The inverse permutation.
  Interleave inverse() const { return {columns, rows, inner}; }
  friend bool operator==(const Interleave&, const Interleave&) = default;
};

struct ViewTensor {
  std::string name;                 // in the view
  std::string source;               // in the underlying checkpoint
  bool transposed = false;          // 2-D tensors only
  std::vector<Interleave> order{};  // by tensor dim of the view; missing entries keep the order
};

/// Returns the view. It shares `below`'s files and its count of bytes read. Tensors of `below` that
/// no view tensor names are absent. Dtypes are unchanged.
///
/// Errors   NotFound for a missing source. InvalidArgument for a repeated name, and for a tensor
///          that cannot be transposed or reordered this way.
Checkpoint view(const Checkpoint& below, const std::vector<ViewTensor>& tensors);

}  // namespace phi::distributed::checkpoint
