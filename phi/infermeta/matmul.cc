// Shape and dtype inference of matmuls, einsum and related products.
#include "phi/infermeta/matmul.h"

#include <algorithm>

#include "phi/common/equation.h"
#include "phi/common/errors.h"
#include "phi/infermeta/axes.h"

namespace phi {
namespace {

void check_arguments(const TensorMeta& x, const TensorMeta& y) {
  PHI_CHECK(x.dims.ndim() > 0 && y.dims.ndim() > 0,
            errors::InvalidArgument("x is {} and y is {}, but both need at least 1 tensor dim; use "
                                    "multiply for a product with a scalar.",
                                    x.to_string(), y.to_string()));
  PHI_CHECK(x.dtype == y.dtype,
            errors::InvalidArgument("x is {} and y is {}, but both need the same dtype; cast one "
                                    "of them.",
                                    x.to_string(), y.to_string()));
  const bool is_whole = x.dtype == DataType::INT32 || x.dtype == DataType::INT64;
  PHI_CHECK(is_floating(x.dtype) || is_complex(x.dtype) || is_whole,
            errors::InvalidArgument("x is {}, but matmul is defined for floating dtypes, complex "
                                    "ones, int32 and int64; cast x and y to one.",
                                    x.to_string()));
}

void check_matmul_ndim(const TensorMeta& x, const char* name, int ndim) {
  PHI_CHECK(x.dims.ndim() == ndim,
            errors::InvalidArgument("{} is {}, but it needs {} tensor dims; use matmul for others.",
                                    name, x.to_string(), ndim));
}

/// The dtype that all tensors of a list share.
DataType common_dtype(std::span<const TensorMeta> x) {
  const DataType dtype = x[0].dtype;
  PHI_CHECK(
      std::all_of(x.begin(), x.end(), [&](const auto& each) { return each.dtype == dtype; }) &&
          (is_floating(dtype) || is_complex(dtype)),
      errors::InvalidArgument("x is a list of {} and others, but all need one dtype, floating "
                              "or complex; cast them.",
                              x[0].to_string()));
  return dtype;
}

/// The extents of an equation's letters.
class Letters {
 public:
  /// Errors: InvalidArgument if tensor `i` does not match its term.
  void add(size_t i, const TensorMeta& x, const std::string& letters, const std::string& equation) {
    PHI_CHECK(x.dims.ndim() == static_cast<int>(letters.size()),
              errors::InvalidArgument("tensor {} of x is {}, but equation '{}' has {} letters for "
                                      "it; write one for each tensor dim.",
                                      i, x.to_string(), equation, letters.size()));
    for (int d = 0; d < x.dims.ndim(); ++d) {
      int64_t& extent = extents_[static_cast<size_t>(letters[static_cast<size_t>(d)] - 'a')];
      PHI_CHECK(extent == kUnknownDim || extent == x.dims[d],
                errors::InvalidArgument("tensor {} of x is {}, whose tensor dim {} has in equation "
                                        "'{}' a letter of extent {}; it must be the same in all.",
                                        i, x.to_string(), d, equation, extent));
      extent = x.dims[d];
    }
  }
  Dims dims(const std::string& letters) const {
    Dims result;
    for (char letter : letters) result.push_back(extents_[static_cast<size_t>(letter - 'a')]);
    return result;
  }

 private:
  std::vector<int64_t> extents_ = std::vector<int64_t>(26, kUnknownDim);
};

}  // namespace

TensorMeta MatmulInferMeta(const TensorMeta& x, const TensorMeta& y, bool transpose_x,
                           bool transpose_y) {
  check_arguments(x, y);
  const int x_ndim = x.dims.ndim();
  const int y_ndim = y.dims.ndim();
  // The tensor dim of each argument that the matmul sums over.
  const int x_inner = x_ndim == 1 || !transpose_x ? x_ndim - 1 : x_ndim - 2;
  const int y_inner = y_ndim == 1 ? 0 : (transpose_y ? y_ndim - 1 : y_ndim - 2);
  PHI_CHECK(x.dims[x_inner] == y.dims[y_inner],
            errors::InvalidArgument(
                "x is {} and y is {} with transpose_x={}, transpose_y={}: the products are summed "
                "over x's tensor dim {} (extent {}) and y's tensor dim {} (extent {}), which must "
                "be equal; transpose or reshape one of them.",
                x.to_string(), y.to_string(), transpose_x, transpose_y, x_inner, x.dims[x_inner],
                y_inner, y.dims[y_inner]));

  const int x_batch = std::max(x_ndim - 2, 0);
  const int y_batch = std::max(y_ndim - 2, 0);
  const int batch = std::max(x_batch, y_batch);
  Dims dims;
  for (int d = 0; d < batch; ++d) {
    const int64_t a = d < batch - x_batch ? 1 : x.dims[d - (batch - x_batch)];
    const int64_t b = d < batch - y_batch ? 1 : y.dims[d - (batch - y_batch)];
    PHI_CHECK(
        a == b || a == 1 || b == 1,
        errors::InvalidArgument("x is {} and y is {}: their batch extents {} and {}, counted from "
                                "the right at position {}, must be equal or one of them 1.",
                                x.to_string(), y.to_string(), a, b, batch - d));
    dims.push_back(a == 1 ? b : a);
  }
  if (x_ndim > 1) dims.push_back(x.dims[transpose_x ? x_ndim - 1 : x_ndim - 2]);
  if (y_ndim > 1) dims.push_back(y.dims[transpose_y ? y_ndim - 2 : y_ndim - 1]);
  return {dims, x.dtype, x.layout};
}

TensorMeta BmmInferMeta(const TensorMeta& x, const TensorMeta& y) {
  check_matmul_ndim(x, "x", 3);
  check_matmul_ndim(y, "y", 3);
  PHI_CHECK(
      x.dims[0] == y.dims[0],
      errors::InvalidArgument(
          "x is {} and y is {}, but both need the same number of matrices; matmul broadcasts them.",
          x.to_string(), y.to_string()));
  return MatmulInferMeta(x, y, false, false);
}

TensorMeta MvInferMeta(const TensorMeta& x, const TensorMeta& vec) {
  check_matmul_ndim(x, "x", 2);
  check_matmul_ndim(vec, "vec", 1);
  return MatmulInferMeta(x, vec, false, false);
}

TensorMeta AddmmInferMeta(const TensorMeta& input, const TensorMeta& x, const TensorMeta& y) {
  check_matmul_ndim(x, "x", 2);
  check_matmul_ndim(y, "y", 2);
  const TensorMeta out = MatmulInferMeta(x, y, false, false);
  PHI_CHECK(input.dtype == x.dtype && input.dims.ndim() >= 1 &&
                broadcast_dims(input.dims, out.dims, "input", "the product") == out.dims,
            errors::InvalidArgument("input is {}, but it must broadcast to the product {} from one "
                                    "or two tensor dims of the same dtype.",
                                    input.to_string(), out.to_string()));
  return out;
}

TensorMeta DotInferMeta(const TensorMeta& x, const TensorMeta& y) {
  const int ndim = x.dims.ndim();
  PHI_CHECK(x.dims == y.dims && x.dtype == y.dtype && (ndim == 1 || ndim == 2) &&
                x.dtype != DataType::BOOL,
            errors::InvalidArgument("x is {} and y is {}, but a dot product needs two vectors, or "
                                    "rows of vectors, of one shape and dtype other than bool.",
                                    x.to_string(), y.to_string()));
  return {Dims(std::span(x.dims.begin(), x.dims.end() - 1)), x.dtype, x.layout};
}

TensorMeta EinsumInferMeta(std::span<const TensorMeta> x, const std::string& equation) {
  PHI_CHECK(!x.empty(), errors::InvalidArgument("x is an empty list, but equation '{}' needs a "
                                                "tensor for each of its terms.",
                                                equation));
  const Equation parsed = Equation::parse(equation, x.size());
  Letters letters;
  for (size_t i = 0; i < x.size(); ++i) {
    const Equation::Subscripts& term = parsed.inputs[i];
    PHI_CHECK(!term.ellipsis && !parsed.output.ellipsis,
              errors::InvalidArgument("equation '{}' has dots, but einsum takes letters only: one "
                                      "for each tensor dim.",
                                      equation));
    letters.add(i, x[i], term.before, equation);
  }
  return {letters.dims(parsed.output.before), common_dtype(x), x[0].layout};
}

TensorMeta MultiDotInferMeta(std::span<const TensorMeta> x) {
  PHI_CHECK(x.size() >= 2,
            errors::InvalidArgument("x has {} tensors, but multi_dot needs 2 or more.", x.size()));
  const DataType dtype = common_dtype(x);
  Dims out;
  for (size_t i = 0; i < x.size(); ++i) {
    const Dims& dims = x[i].dims;
    const bool at_end = i == 0 || i + 1 == x.size();
    PHI_CHECK(
        dims.ndim() == 2 || (at_end && dims.ndim() == 1),
        errors::InvalidArgument("tensor {} of x is {}, but it must be a matrix; the first and "
                                "the last may be vectors.",
                                i, x[i].to_string()));
    PHI_CHECK(
        i == 0 || x[i - 1].dims.back() == dims[0],
        errors::InvalidArgument(
            "tensor {} of x has {} columns and tensor {} is {}, but it needs that number of rows.",
            i - 1, x[i - 1].dims.back(), i, x[i].to_string()));
  }
  if (x.front().dims.ndim() == 2) out.push_back(x.front().dims[0]);
  if (x.back().dims.ndim() == 2) out.push_back(x.back().dims[1]);
  return {out, dtype, x[0].layout};
}

std::vector<TensorMeta> UnchangedMultiInferMeta(std::span<const TensorMeta> x) {
  return {x.begin(), x.end()};
}

}  // namespace phi
