// Arithmetic of boxes.
#include "phi/core/box.h"

#include <algorithm>

namespace phi {

std::string Box::to_string() const {
  std::string out = "[";
  for (int d = 0; d < ndim(); ++d) {
    if (d > 0) out += ',';
    out += std::to_string(offset[d]) + ":" + std::to_string(offset[d] + size[d]);
  }
  return out + "]";
}

Box intersect(const Box& a, const Box& b) {
  Box out{a.offset, a.size};
  for (int d = 0; d < a.ndim(); ++d) {
    const int64_t begin = std::max(a.offset[d], b.offset[d]);
    const int64_t end = std::min(a.offset[d] + a.size[d], b.offset[d] + b.size[d]);
    out.offset[d] = begin;
    out.size[d] = std::max<int64_t>(end - begin, 0);
  }
  return out;
}

}  // namespace phi
