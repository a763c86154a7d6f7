// Where the lines of arrays lie.
#pragma once

#include <cstdint>

namespace phi {

/// Element t of line (o, i) is the one numbered o * outer + i * inner + t * step.
struct LineStrides {
  int64_t outer;
  int64_t inner;
  int64_t step;
};

/// outer x inner lines: where they are read, and where the results are written.
struct LineGrid {
  int64_t outer;
  int64_t inner;
  LineStrides from;
  LineStrides to;
};

}  // namespace phi
