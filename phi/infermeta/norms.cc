// Shapes and dtypes of norms and of ops that scale by norms.
#include "phi/infermeta/norms.h"

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/reduce.h"
#include "phi/infermeta/unary.h"

namespace phi {

TensorMeta PNormInferMeta(const TensorMeta& x, float porder, int axis, bool keepdim,
                          bool asvector) {
  PHI_CHECK(porder == porder,
            errors::InvalidArgument("porder is NaN; it must be a number, inf or -inf."));
  if (asvector) normalise_axes({axis}, x.dims);  // rejects an axis outside x
  return ReduceInferMeta(x, asvector ? IntArray() : IntArray({axis}), keepdim);
}

TensorMeta LogsumexpInferMeta(const TensorMeta& x, const std::vector<int64_t>& axis, bool keepdim,
                              bool reduce_all) {
  return FloatUnaryInferMeta(ReduceAllInferMeta(x, axis, keepdim, reduce_all));
}

std::tuple<TensorMeta, TensorMeta> NormInferMeta(const TensorMeta& x, int axis, bool is_test) {
  TensorMeta norm = ReduceInferMeta(x, {axis}, true);
  if (is_test) norm.dims = {0};
  return {x, norm};
}

TensorMeta RenormInferMeta(const TensorMeta& x, float p, int axis) {
  PHI_CHECK(p > 0, errors::InvalidArgument("p is {}, but the order of a norm is above 0.", p));
  normalise_axis(axis, x.dims.ndim(), x.dims);
  return x;
}

TensorMeta ClipByNormInferMeta(const TensorMeta& x, float max_norm) {
  PHI_CHECK(max_norm > 0,
            errors::InvalidArgument("max_norm is {}, but it must be above 0.", max_norm));
  return x;
}

}  // namespace phi
