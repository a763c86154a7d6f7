// Shape and dtype inference of table lookups.
#include "phi/infermeta/lookup.h"

#include "phi/common/errors.h"
#include "phi/common/inexact.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {

void check_index_dtype(const TensorMeta& index, std::string_view name) {
  PHI_CHECK(index.dtype == DataType::INT32 || index.dtype == DataType::INT64,
            errors::InvalidArgument("{} is {}, but ids must be int32 or int64; cast it.", name,
                                    index.to_string()));
}

TensorMeta EmbeddingInferMeta(const TensorMeta& x, const TensorMeta& weight, int64_t padding_idx,
                              bool sparse) {
  check_index_dtype(x, "x");
  PHI_CHECK(
      weight.dims.ndim() == 2 && (is_inexact(weight.dtype) || weight.dtype == DataType::INT8),
      errors::InvalidArgument("weight is {}, but it must be a [V, D] table of floats, complex "
                              "numbers or int8.",
                              weight.to_string()));
  PHI_CHECK(padding_idx < weight.dims[0],
            errors::InvalidArgument("padding_idx is {}, but weight is {}; it must be an id below "
                                    "{}, or negative for none.",
                                    padding_idx, weight.to_string(), weight.dims[0]));
  PHI_CHECK(
      !sparse,
      errors::Unimplemented(
          "sparse=true requests row-sparse gradients, which are not supported; use sparse=false."));
  Dims dims = x.dims;
  dims.push_back(weight.dims[1]);
  return {dims, weight.dtype, weight.layout};
}

TensorMeta GatherInferMeta(const TensorMeta& x, const TensorMeta& index, const Scalar& axis) {
  check_index_dtype(index, "index");
  PHI_CHECK(
      x.dims.ndim() > 0,
      errors::InvalidArgument("x is {}, but gather needs at least 1 tensor dim.", x.to_string()));
  const bool is_column = index.dims.ndim() == 2 && index.dims[1] == 1;
  PHI_CHECK(index.dims.ndim() <= 1 || is_column,
            errors::InvalidArgument("index is {}, but it must be 0-D or 1-D; reshape it to [-1].",
                                    index.to_string()));
  const int at = normalise_axis(axis.to<int64_t>(), x.dims.ndim(), x.dims);
  Dims dims;
  for (int d = 0; d < at; ++d) dims.push_back(x.dims[d]);
  if (index.dims.ndim() > 0) dims.push_back(index.dims[0]);
  for (int d = at + 1; d < x.dims.ndim(); ++d) dims.push_back(x.dims[d]);
  return {dims, x.dtype, x.layout};
}

TensorMeta OneHotInferMeta(const TensorMeta& x, const Scalar& num_classes) {
  check_index_dtype(x, "x");
  const int64_t classes = count_of(num_classes, "num_classes");
  PHI_CHECK(classes > 0,
            errors::InvalidArgument("num_classes is {}, but it must be positive.", classes));
  Dims dims = x.dims;
  dims.push_back(classes);
  return {dims, DataType::FLOAT32, x.layout};
}

}  // namespace phi
