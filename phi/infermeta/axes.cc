// Broadcasting and the errors of axes.
#include "phi/infermeta/axes.h"

#include <algorithm>

#include "phi/common/errors.h"

namespace phi {

void detail::throw_bad_axis(int64_t axis, int ndim, const Dims& dims, std::string_view name) {
  if (ndim == 0) {
    throw errors::OutOfRange("{} is {}, but the tensor is 0-D and has no axes.", name, axis);
  }
  throw errors::OutOfRange("{} is {}, but a tensor of shape {} allows {} to {} here.", name, axis,
                           dims.to_string(), -ndim, ndim - 1);
}

void detail::throw_repeated_axis(const IntArray& axes, const Dims& dims) {
  throw errors::InvalidArgument(
      "axis {} names a tensor dim of shape {} more than once; list each once.", axes.to_string(),
      dims.to_string());
}

Dims broadcast_dims(const Dims& x, const Dims& y, std::string_view x_name,
                    std::string_view y_name) {
  if (x == y) return x;
  Dims out = Dims::filled(std::max(x.ndim(), y.ndim()), 1);
  for (int back = 1; back <= out.ndim(); ++back) {
    const int64_t a = back <= x.ndim() ? x[x.ndim() - back] : 1;
    const int64_t b = back <= y.ndim() ? y[y.ndim() - back] : 1;
    int64_t& size = out[out.ndim() - back];
    if (a == b || b == 1 || (b == kUnknownDim && a != 1)) {
      size = a;
    } else if (a == 1 || a == kUnknownDim) {
      size = b;
    } else {
      throw errors::InvalidArgument(
          "{} has shape {} and {} has shape {}: their tensor dims {} from the last are {} and {}, "
          "which do not broadcast (equal, or one of them 1); reshape or expand one of them.",
          x_name, x.to_string(), y_name, y.to_string(), back, a, b);
    }
  }
  return out;
}

}  // namespace phi
