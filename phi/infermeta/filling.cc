// Shapes and dtypes of ops that fill tensors from attributes, and of ops that return shapes.
#include "phi/infermeta/filling.h"

#include <algorithm>
#include <cmath>
#include <string_view>

#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"
#include "phi/infermeta/creation.h"
#include "phi/infermeta/dtype_range.h"

namespace phi {
namespace {

IntArray extents(const std::vector<int>& shape) {
  return IntArray(std::vector<int64_t>(shape.begin(), shape.end()));
}

// The number of elements (r, c) of a rows x cols matrix with c - r <= offset.
int64_t lower_count(int rows, int cols, int64_t offset) {
  int64_t count = 0;
  for (int64_t r = 0; r < rows; ++r) count += std::clamp<int64_t>(r + offset + 1, 0, cols);
  return count;
}

void check_matrix(int64_t rows, int64_t cols) {
  PHI_CHECK(
      rows >= 0 && cols >= 0,
      errors::InvalidArgument(
          "a matrix of {} rows and {} columns is requested; both must be at least 0.", rows, cols));
}

void check_indices_dtype(DataType dtype) {
  PHI_CHECK(is_integral(dtype),
            errors::InvalidArgument(
                "dtype is {}, but row and column numbers are integers; use int32 or int64.",
                name_of(dtype)));
}

TensorMeta spaced(const Scalar& start, const Scalar& stop, int64_t count, DataType dtype) {
  PHI_CHECK(
      dtype != DataType::UNDEFINED && dtype != DataType::BOOL,
      errors::InvalidArgument(
          "dtype is {}, but the values from {} to {} need an integer or floating type; use one.",
          name_of(dtype), start.to_string(), stop.to_string()));
  check_held(start, dtype, "start");
  check_held(stop, dtype, "stop");
  return {Dims{count}, dtype};
}

}  // namespace

TensorMeta FullBatchSizeLikeInferMeta(const TensorMeta& input, const std::vector<int>& shape,
                                      DataType dtype, const Scalar& value, int input_dim_idx,
                                      int output_dim_idx) {
  const int ndim = static_cast<int>(shape.size());
  PHI_CHECK(input_dim_idx >= 0 && input_dim_idx < input.dims.ndim() && output_dim_idx >= 0 &&
                output_dim_idx < ndim,
            errors::InvalidArgument("extent {} of a shape of {} extents is copied from tensor dim "
                                    "{} of input {}; both must exist.",
                                    output_dim_idx, ndim, input_dim_idx, input.to_string()));
  std::vector<int64_t> sizes(shape.begin(), shape.end());
  const int64_t batch = input.dims[input_dim_idx];
  sizes[static_cast<size_t>(output_dim_idx)] = 0;  // -1 in the attribute, or not known yet
  TensorMeta out = FullInferMeta(sizes, value, dtype);
  out.dims[output_dim_idx] = batch;
  return out;
}

TensorMeta FullIntArrayInferMeta(const std::vector<int64_t>& value, DataType dtype) {
  for (const int64_t number : value) check_held(number, dtype, "value");
  return CreateInferMeta(IntArray{static_cast<int64_t>(value.size())}, dtype);
}

TensorMeta FullWithTensorInferMeta(const TensorMeta& value, const IntArray& shape, DataType dtype) {
  PHI_CHECK(!value.dims.known() || value.numel() == 1,
            errors::InvalidArgument("value is {}, but it must have one element, which fills the "
                                    "result.",
                                    value.to_string()));
  return CreateInferMeta(shape, dtype == DataType::UNDEFINED ? value.dtype : dtype);
}

TensorMeta AssignValueInferMeta(const std::vector<int>& shape, DataType dtype,
                                const std::vector<Scalar>& values) {
  const TensorMeta out = CreateInferMeta(extents(shape), dtype);
  PHI_CHECK(out.numel() == static_cast<int64_t>(values.size()),
            errors::InvalidArgument(
                "shape {} has {} elements, but there are {} values; pass one for each.",
                out.dims.to_string(), out.numel(), values.size()));
  for (const Scalar& number : values) check_held(number, dtype, "values");
  return out;
}

TensorMeta EyeInferMeta(const Scalar& num_rows, const Scalar& num_columns, DataType dtype) {
  const int64_t rows = count_of(num_rows, "num_rows");
  const int64_t given = count_of(num_columns, "num_columns");
  const int64_t columns = given == -1 ? rows : given;
  check_matrix(rows, columns);
  return CreateInferMeta({rows, columns}, dtype);
}

TensorMeta LinspaceInferMeta(const Scalar& start, const Scalar& stop, const Scalar& number,
                             DataType dtype) {
  const int64_t count = count_of(number, "number");
  PHI_CHECK(count >= 0,
            errors::InvalidArgument("number is {}, but from {} to {} there must be at least 0 "
                                    "values.",
                                    count, start.to_string(), stop.to_string()));
  return spaced(start, stop, count, dtype);
}

TensorMeta LogspaceInferMeta(const Scalar& start, const Scalar& stop, const Scalar& num,
                             const Scalar& base, DataType dtype) {
  const int64_t count = count_of(num, "num");
  PHI_CHECK(count > 0,
            errors::InvalidArgument("num is {}, but from {} to {} there must be at least 1 value.",
                                    count, start.to_string(), stop.to_string()));
  const TensorMeta out = spaced(start, stop, count, dtype);
  check_held(base, dtype, "base");
  if (is_integral(dtype)) {  // only these can overflow: floats become infinity
    const auto whole = [](const Scalar& number) { return std::trunc(number.to<double>()); };
    const auto power = [&](const Scalar& exponent) {
      return std::pow(whole(base), whole(exponent));
    };
    check_held(power(start), dtype, "base to the power of start");
    check_held(power(stop), dtype, "base to the power of stop");
  }
  return out;
}

TensorMeta TrilIndicesInferMeta(int rows, int cols, int offset, DataType dtype) {
  check_matrix(rows, cols);
  check_indices_dtype(dtype);
  return {{2, lower_count(rows, cols, offset)}, dtype};
}

TensorMeta TriuIndicesInferMeta(int row, int col, int offset, DataType dtype) {
  check_matrix(row, col);
  check_indices_dtype(dtype);
  const int64_t all = static_cast<int64_t>(row) * col;
  return {{2, all - lower_count(row, col, int64_t{offset} - 1)}, dtype};
}

TensorMeta SequenceMaskInferMeta(const TensorMeta& x, const Scalar& max_len, DataType out_dtype) {
  PHI_CHECK(out_dtype != DataType::UNDEFINED,
            errors::InvalidArgument("out_dtype is undefined; pass one for the mask of x {}.",
                                    x.to_string()));
  const int64_t length = count_of(max_len, "max_len");
  Dims dims = x.dims;
  dims.push_back(length < 0 ? kUnknownDim : length);
  return {dims, out_dtype, x.layout};
}

TensorMeta ShardIndexInferMeta(const TensorMeta& input, int index_num, int nshards, int shard_id,
                               int ignore_value) {
  PHI_CHECK(
      is_integral(input.dtype) && input.dims.ndim() > 0 && input.dims.back() == 1,
      errors::InvalidArgument(
          "input is {}, but it must be an integer tensor with extent 1 along its last tensor dim.",
          input.to_string()));
  PHI_CHECK(index_num > 0 && nshards > 0 && shard_id >= 0 && shard_id < nshards,
            errors::InvalidArgument("index_num is {}, nshards {} and shard_id {}: the first two "
                                    "must be positive and shard_id in [0, nshards).",
                                    index_num, nshards, shard_id));
  check_held(ignore_value, input.dtype, "ignore_value");
  return input;
}

TensorMeta NumelInferMeta(const TensorMeta& x) { return {Dims(), DataType::INT64, x.layout}; }

TensorMeta ShapeInferMeta(const TensorMeta& input) {
  return {Dims{input.dims.ndim()}, DataType::INT32, input.layout};
}

TensorMeta Shape64InferMeta(const TensorMeta& input) {
  return {Dims{input.dims.ndim()}, DataType::INT64, input.layout};
}

TensorMeta IsEmptyInferMeta(const TensorMeta& x) { return {Dims(), DataType::BOOL, x.layout}; }

}  // namespace phi
