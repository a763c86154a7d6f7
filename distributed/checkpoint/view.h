// A view: the tensors of a checkpoint under other names, transposed, or with their rows or columns
// in another order. To everybody it is a Checkpoint. A read touches what its box needs and no more:
// the box's own elements, wherever they lie in the checkpoint below.
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

/// An order of the indices along one tensor dim. They are counted as [outer, rows, columns, inner];
/// in the checkpoint below rows and columns have changed places. With the columns of q, k and v
/// ordered head by head here and [q|k|v] below: {.rows = heads, .columns = 3, .inner = head size}.
struct Interleave {
  int64_t rows = 1;
  int64_t columns = 1;
  int64_t inner = 1;

  int64_t block() const { return rows * columns * inner; }
  bool is_identity() const { return rows == 1 || columns == 1; }
  /// Where index i lies below.
  int64_t source_of(int64_t i) const {
    const int64_t column = i / inner % columns;
    const int64_t row = i / (inner * columns) % rows;
    return i / block() * block() + (column * rows + row) * inner + i % inner;
  }
  /// What undoes it.
  Interleave inverse() const { return {columns, rows, inner}; }
  friend bool operator==(const Interleave&, const Interleave&) = default;
};

struct ViewTensor {
  std::string name;                 // in the view
  std::string source;               // in the checkpoint below
  bool transposed = false;          // of two tensor dims
  std::vector<Interleave> order{};  // by tensor dim of the view; those missing are as below
};

/// Shares the files, and the count of bytes read, of `below`; tensors of it that no tensor of the
/// view names are not there. Dtypes are those below.
/// Errors: NotFound for a source that is not there; InvalidArgument for a name used twice, and for
/// a tensor that cannot be transposed or ordered so.
Checkpoint view(const Checkpoint& below, const std::vector<ViewTensor>& tensors);

}  // namespace phi::distributed::checkpoint
