// Layout of the lines of an array that are transformed.
#pragma once

#include <cstdint>

namespace phi {

/// Strides in elements: element t of line (o, i) is at o * outer + i * inner + t * step.
struct LineStrides {
  int64_t outer;
  int64_t inner;
  int64_t step;
};

/// outer x inner lines, with the layouts of input and output.
struct LineGrid {
  int64_t outer;
  int64_t inner;
  LineStrides from;
  LineStrides to;
};

}  // namespace phi
