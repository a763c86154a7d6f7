// Shapes and dtypes of matmuls with 8-bit weights.
#include "phi/infermeta/quantized.h"

#include "phi/common/errors.h"

namespace phi {
namespace {

void check_algorithm(const std::string& name, const std::string& value, std::string_view accepted) {
  PHI_CHECK(value.find("int4") == std::string::npos,
            errors::Unimplemented("{} is '{}': 4-bit weights are not supported; use '{}'.", name,
                                  value, accepted));
  PHI_CHECK(value == accepted || value == "llm.int8",
            errors::InvalidArgument("{} is '{}'; the algorithms are '{}' and 'llm.int8'.", name,
                                    value, accepted));
}

void check_group(int group_size) {
  PHI_CHECK(group_size == -1 || group_size > 0,
            errors::InvalidArgument("group_size is {}; use -1 for one scale a column, or the "
                                    "number of elements that share one, 64 or 128.",
                                    group_size));
}

/// The dims of the scale of a weight of k rows and n columns.
Dims scale_dims(int64_t k, int64_t n, int group_size) {
  if (group_size <= 0) return {n};
  return {(k + group_size - 1) / group_size, n};
}

/// The dtype in which sums of `values` are computed.
DataType scale_dtype(DataType values) {
  return values == DataType::FLOAT64 ? DataType::FLOAT64 : DataType::FLOAT32;
}

void check_quantized_weight(const TensorMeta& weight, const TensorMeta& scale, DataType values,
                            int group_size, const char* name) {
  check_group(group_size);
  PHI_CHECK(weight.dims.ndim() == 2 && weight.dtype == DataType::INT8,
            errors::InvalidArgument(
                "{} is {}, but it must be int8 [n, k], as weight_quantize returns it.", name,
                weight.to_string()));
  const Dims expected = scale_dims(weight.dims[1], weight.dims[0], group_size);
  const DataType dtype = scale_dtype(values);
  PHI_CHECK(scale.dims == expected && scale.dtype == dtype,
            errors::InvalidArgument("the scale is {}, but for {} {} with a group_size of {} and "
                                    "matmuls in {} it must be {} {}.",
                                    scale.to_string(), name, weight.to_string(), group_size,
                                    name_of(values), name_of(dtype), expected.to_string()));
}

}  // namespace

std::tuple<TensorMeta, TensorMeta> WeightQuantizeInferMeta(const TensorMeta& x,
                                                           const std::string& algo, int /*arch*/,
                                                           int group_size) {
  check_algorithm("algo", algo, "weight_only_int8");
  check_group(group_size);
  PHI_CHECK(x.dims.ndim() == 2 && is_floating(x.dtype),
            errors::InvalidArgument("x is {}, but it must be a matrix [k, n] of floats; reshape or "
                                    "cast it.",
                                    x.to_string()));
  const int64_t k = x.dims[0];
  const int64_t n = x.dims[1];
  return {{{n, k}, DataType::INT8, x.layout},
          {scale_dims(k, n, group_size), scale_dtype(x.dtype), x.layout}};
}

TensorMeta WeightDequantizeInferMeta(const TensorMeta& x, const TensorMeta& scale,
                                     const std::string& algo, DataType out_dtype, int group_size) {
  check_algorithm("algo", algo, "weight_only_int8");
  PHI_CHECK(
      is_floating(out_dtype),
      errors::InvalidArgument("out_dtype is {}, but dequantised values need a floating dtype.",
                              name_of(out_dtype)));
  check_quantized_weight(x, scale, out_dtype, group_size, "x");
  return {{x.dims[1], x.dims[0]}, out_dtype, x.layout};
}

TensorMeta WeightOnlyLinearInferMeta(const TensorMeta& x, const TensorMeta& weight,
                                     const TensorMeta* bias, const TensorMeta& weight_scale,
                                     const std::string& weight_dtype, int /*arch*/,
                                     int group_size) {
  check_algorithm("weight_dtype", weight_dtype, "int8");
  check_quantized_weight(weight, weight_scale, x.dtype, group_size, "weight");
  const int last = x.dims.ndim() - 1;
  PHI_CHECK(last >= 0 && is_floating(x.dtype) && x.dims[last] == weight.dims[1],
            errors::InvalidArgument(
                "x is {} and weight {}: x must be floats [..., {}], the length of a row of weight.",
                x.to_string(), weight.to_string(), weight.dims[1]));
  PHI_CHECK(!bias || (bias->dims == Dims{weight.dims[0]} && bias->dtype == x.dtype),
            errors::InvalidArgument("bias is {}, but for x {} and weight {} it must be {} [{}].",
                                    bias->to_string(), x.to_string(), weight.to_string(),
                                    name_of(x.dtype), weight.dims[0]));
  TensorMeta out = x;
  out.dims[last] = weight.dims[0];
  return out;
}

}  // namespace phi
