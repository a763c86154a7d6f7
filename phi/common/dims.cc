// Printing of Dims and its one error.
#include "phi/common/dims.h"

#include "phi/common/errors.h"

namespace phi {

std::string Dims::to_string() const {
  std::string out = "[";
  for (int i = 0; i < ndim_; ++i) {
    if (i > 0) out += ',';
    out += dims_[i] == kUnknownDim ? "?" : std::to_string(dims_[i]);
  }
  return out + "]";
}

void Dims::throw_too_many(size_t ndim) {
  throw errors::InvalidArgument("a tensor has at most {} dims, this one would have {}.", kMaxNdim,
                                ndim);
}

}  // namespace phi
