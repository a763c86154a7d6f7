// Shape and dtype inference of the gated linear unit.
#include "phi/infermeta/swiglu.h"

#include "phi/common/errors.h"

namespace phi {

TensorMeta SwiGLUInferMeta(const TensorMeta& x, const TensorMeta* y) {
  PHI_CHECK(is_floating(x.dtype),
            errors::InvalidArgument("x is {}, but it must be floating; cast it.", x.to_string()));
  if (y) {
    PHI_CHECK(y->dims == x.dims && y->dtype == x.dtype,
              errors::InvalidArgument("x is {} and y is {}: they must have one shape and dtype.",
                                      x.to_string(), y->to_string()));
    return x;
  }
  PHI_CHECK(
      x.dims.ndim() > 0 && x.dims.back() % 2 == 0,
      errors::InvalidArgument("x is {}, but without y its last extent must be even: it is cut "
                              "in two halves.",
                              x.to_string()));
  TensorMeta out = x;
  out.dims[x.dims.ndim() - 1] /= 2;
  return out;
}

}  // namespace phi
