// Text and errors of Dims, and checked arithmetic of extents.
#include "phi/common/dims.h"

#include <algorithm>

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

void Dims::throw_too_large(size_t width) const {
  throw errors::InvalidArgument(
      "a tensor of shape {}{} is too large: its elements and bytes, with extents of 0 counted as "
      "1, must fit in 63 bits; make it smaller.",
      to_string(), width > 1 ? fmt::format(" with {} bytes per element", width) : "");
}

int64_t Dims::overflown(int first, int last) const {
  if (std::find(begin() + first, begin() + last, 0) != begin() + last) return 0;
  throw_too_large(1);
}

void Dims::check_fits(size_t width) const {
  auto bytes = static_cast<int64_t>(width);
  for (const int64_t extent : *this) {
    if (extent > 1 && __builtin_mul_overflow(bytes, extent, &bytes)) throw_too_large(width);
  }
}

int64_t extent_times(int64_t a, int64_t b) {
  int64_t product = 0;
  if (a == kUnknownDim) return a;
  PHI_CHECK(!__builtin_mul_overflow(a, b, &product),
            errors::InvalidArgument("an extent of {} times {} does not fit in 63 bits; make the "
                                    "tensor smaller.",
                                    a, b));
  return product;
}

int64_t extent_plus(int64_t a, int64_t b) {
  int64_t sum = 0;
  if (a == kUnknownDim) return a;
  PHI_CHECK(!__builtin_add_overflow(a, b, &sum),
            errors::InvalidArgument("an extent of {} plus {} does not fit in 63 bits; make the "
                                    "tensor smaller.",
                                    a, b));
  return sum;
}

}  // namespace phi
