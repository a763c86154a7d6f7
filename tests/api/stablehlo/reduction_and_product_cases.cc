// Reductions and products, with the gradients of the latter.
#include "tests/api/stablehlo/case_inputs.h"

namespace phi::testing {
namespace {

const Dims kShape{8, 6};

CallCase reduction(const char* name, const char* op, const Tensor& x, const Integers& axis,
                   bool keepdim, Tensor (*f)(const Tensor&, const IntArray&, bool)) {
  return {name, op, {one(x)}, {{"axis", axis}, {"keepdim", keepdim}}, [=] {
            return TensorList{f(x, IntArray(axis), keepdim)};
          }};
}

CallCase sum_case(const char* name, const Tensor& x, const Integers& axis, DataType dtype,
                  bool keepdim) {
  return {name, "sum", {one(x)}, {{"axis", axis}, {"dtype", dtype}, {"keepdim", keepdim}}, [=] {
            return TensorList{sum(x, IntArray(axis), dtype, keepdim)};
          }};
}

CallCase argmax_case(const char* name, int64_t axis, bool keepdims, bool flatten) {
  const Tensor x = normal(kShape);
  return {
      name,
      "argmax",
      {one(x)},
      {{"axis", axis}, {"keepdims", keepdims}, {"flatten", flatten}, {"dtype", DataType::INT64}},
      [=] { return TensorList{argmax(x, axis, keepdims, flatten)}; }};
}

std::vector<CallCase> reductions() {
  const Tensor x = normal({4, 8, 6});
  const Tensor y = normal({8, 1}, 7);
  constexpr DataType kOwn = DataType::UNDEFINED;
  return {
      sum_case("sum_all", x, {}, kOwn, false),
      sum_case("sum_0", x, {0}, kOwn, false),
      sum_case("sum_keep", x, {1, -1}, kOwn, true),
      sum_case("sum_int", ids(kShape, 100), {1}, kOwn, false),
      sum_case("sum_to_double", x, {1}, DataType::FLOAT64, false),
      sum_case("sum_of_truncated", x, {1}, DataType::INT32, false),
      sum_case("sum_of_rounded", scale(x, 100.0), {1}, DataType::BFLOAT16, false),
      sum_case("sum_of_bool", equal(ids(kShape, 2), full({}, 1, DataType::INT64)), {0}, kOwn, true),
      reduction("mean_all", "mean", x, {}, false, mean),
      reduction("mean_1", "mean", x, {-1}, true, mean),
      reduction("mean_int", "mean", ids(kShape, 100), {0}, false, mean),
      reduction("max_all", "max", x, {}, false, max),
      reduction("max_0", "max", x, {0}, true, max),
      reduction("max_int", "max", ids(kShape, 100), {1}, false, max),
      argmax_case("argmax", 1, false, false),
      argmax_case("argmax_keep", -2, true, false),
      argmax_case("argmax_flat", 0, false, true),
      binary("reduce_as", "reduce_as", reduce_as, x, y),
      unary("squared_l2_norm", squared_l2_norm),
      unary("softmax", [](const Tensor& a) { return softmax(a, 0); }, normal(kShape),
            {{"axis", int64_t{0}}}),
      binary("softmax_grad", "softmax_grad",
             [](const Tensor& out, const Tensor& g) { return softmax_grad(out, g, -1); },
             softmax(normal(kShape)), normal(kShape, 8), {{"axis", int64_t{-1}}}),
  };
}

struct Product {
  const char* name;
  Dims x, y;
  bool transpose_x, transpose_y;
  DataType dtype = DataType::FLOAT32;
};

const std::vector<Product>& products() {
  static const std::vector<Product> all = {
      {"plain", {8, 6}, {6, 4}, false, false},
      {"both_transposed", {6, 8}, {4, 6}, true, true},
      {"weight", {4, 8, 6}, {6, 10}, false, false},
      {"weight_transposed", {4, 8, 6}, {10, 6}, false, true},
      {"batch_transposed", {4, 6, 8}, {6, 10}, true, false},
      {"batched", {2, 4, 8, 6}, {2, 4, 6, 10}, false, false},
      {"batched_transposed", {2, 4, 8, 6}, {2, 4, 10, 6}, false, true},
      {"broadcast", {2, 1, 8, 6}, {4, 6, 2}, false, false},
      {"broadcast_transposed", {1, 6, 8}, {4, 2, 6}, true, true},
      {"wide_y", {8, 6}, {4, 6, 2}, false, false},
      {"vector_x", {6}, {6, 4}, false, false},
      {"vector_y", {8, 6}, {6}, false, false},
      {"dot", {6}, {6}, false, false},
      {"bf16", {4, 8, 6}, {6, 10}, false, false, DataType::BFLOAT16},
      {"double", {8, 6}, {6, 4}, false, false, DataType::FLOAT64},
  };
  return all;
}

void add_product(const Product& p, std::vector<CallCase>& cases) {
  const Tensor x = normal(p.x, 1, p.dtype);
  const Tensor y = normal(p.y, 7, p.dtype);
  const Tensor out = matmul(x, y, p.transpose_x, p.transpose_y);
  const Tensor g = normal(out.shape(), 8, p.dtype);
  const Attributes flags = {{"transpose_x", p.transpose_x}, {"transpose_y", p.transpose_y}};
  const double tolerance = p.dtype == DataType::BFLOAT16  ? kBfloat16
                           : p.dtype == DataType::FLOAT64 ? kDouble
                                                          : 1e-5;
  cases.push_back({std::string("matmul_") + p.name,
                   "matmul",
                   {one(x), one(y)},
                   flags,
                   [=] { return TensorList{out}; },
                   tolerance});
  cases.push_back({std::string("matmul_grad_") + p.name,
                   "matmul_grad",
                   {one(x), one(y), one(g)},
                   flags,
                   [=, transpose_x = p.transpose_x, transpose_y = p.transpose_y] {
                     return list_of(matmul_grad(x, y, g, transpose_x, transpose_y));
                   },
                   tolerance});
}

}  // namespace

std::vector<CallCase> reduction_and_product_cases() {
  std::vector<CallCase> all = reductions();
  for (const Product& p : products()) add_product(p, all);
  return all;
}

}  // namespace phi::testing
