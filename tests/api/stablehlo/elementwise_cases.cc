// Elementwise operators and their gradients.
#include "tests/api/stablehlo/case_inputs.h"

namespace phi::testing {
namespace {

const Dims kShape{8, 6};
constexpr DataType kI64 = DataType::INT64;

Attributes scale_attributes(double factor, double bias, bool after) {
  return {{"scale", factor}, {"bias", bias}, {"bias_after_scale", after}};
}

std::vector<CallCase> binaries() {
  const Tensor x = normal(kShape);
  const Tensor y = normal(kShape, 7);
  const Tensor low = normal(kShape, 1, DataType::BFLOAT16);
  CallCase half = binary("add_bf16", "add", add, low, normal({6}, 7, DataType::BFLOAT16));
  half.tolerance = kBfloat16;
  return {
      binary("add", "add", add, x, y),
      std::move(half),
      binary("add_broadcast", "add", add, normal({4, 8, 6}), normal({8, 1}, 7)),
      binary("add_int", "add", add, ids(kShape, 9), ids({6}, 9, 5)),
      binary("subtract", "subtract", subtract, x, normal({6}, 7)),
      binary("multiply", "multiply", multiply, x, y),
      binary("divide", "divide", divide, x, positive(kShape, 7)),
      binary("divide_int", "divide", divide, subtract(ids(kShape, 90), full({}, 45, kI64)),
             add(ids({6}, 9, 5), full({}, 1, kI64))),
      binary("maximum", "maximum", maximum, x, normal({1, 6}, 7)),
      binary("minimum", "minimum", minimum, x, normal({1, 6}, 7)),
      binary("equal", "equal", equal, ids(kShape, 3), ids({1, 6}, 3, 7)),
      binary("equal_bool", "equal", equal, cast(ids(kShape, 2), DataType::BOOL),
             cast(ids(kShape, 2, 7), DataType::BOOL)),
      binary("greater_equal", "greater_equal", greater_equal, x, y),
      binary("not_equal", "not_equal", not_equal, ids(kShape, 3), ids({1, 6}, 3, 7)),
      binary("greater_than", "greater_than", greater_than, x, y),
  };
}

std::vector<CallCase> unaries() {
  const Tensor p = positive(kShape);
  const auto gelu_case = [](const char* name, bool approximate) {
    CallCase c = unary("gelu", [=](const Tensor& x) { return gelu(x, approximate); },
                       normal(kShape), {{"approximate", approximate}});
    c.name = name;
    return c;
  };
  const auto scale_case = [](const char* name, bool after) {
    CallCase c = unary(
        "scale", [=](const Tensor& x) { return scale(x, 2.0, 1.5, after); }, normal(kShape),
        scale_attributes(2.0, 1.5, after));
    c.name = name;
    return c;
  };
  return {
      unary("exp", exp),
      unary("log", log, p),
      unary("sqrt", sqrt, p),
      unary("rsqrt", rsqrt, p),
      unary("square", square),
      unary("tanh", tanh),
      unary("sigmoid", sigmoid),
      unary("relu", relu),
      unary("silu", silu),
      unary("assign", assign),
      gelu_case("gelu", false),
      gelu_case("gelu_tanh", true),
      unary("pow", [](const Tensor& x) { return pow(x, 3.0f); }, normal(kShape), {{"y", 3.0}}),
      scale_case("scale", true),
      scale_case("scale_bias_first", false),
      unary("cast", [](const Tensor& x) { return cast(x, DataType::INT32); }, normal(kShape),
            {{"dtype", DataType::INT32}}),
      unary("full_like", [](const Tensor& x) { return full_like(x, 3.0f); }, normal(kShape),
            {{"value", 3.0}, {"dtype", DataType::UNDEFINED}}),
  };
}

std::vector<CallCase> others() {
  const Tensor x = normal(kShape);
  const Tensor y = normal(kShape, 7);
  const Tensor g = normal(kShape, 8);
  const Tensor chosen = greater_equal(x, full({1}, 0.0f));
  const Tensor wide = normal({4, 12}, 9);
  const Tensor narrow = normal({4, 6}, 10);
  return {
      {"where",
       "where",
       {one(chosen), one(x), one(y)},
       {},
       [=] { return TensorList{where(chosen, x, y)}; }},
      {"add_n",
       "add_n",
       {{x, y, g}},
       {},
       [=] {
         return TensorList{add_n({x, y, g})};
       }},
      {"swiglu", "swiglu", {one(x), one(y)}, {}, [=] { return TensorList{swiglu(x, y)}; }},
      {"swiglu_halves",
       "swiglu",
       {one(wide), none()},
       {},
       [=] { return TensorList{swiglu(wide, std::nullopt)}; }},
      {"swiglu_grad",
       "swiglu_grad",
       {one(x), one(y), one(g)},
       {},
       [=] { return list_of(swiglu_grad(x, y, g)); }},
      {"swiglu_grad_halves",
       "swiglu_grad",
       {one(wide), none(), one(narrow)},
       {},
       [=] { return list_of(swiglu_grad(wide, std::nullopt, narrow, GradMask({0}))); }},
  };
}

std::vector<CallCase> gradients() {
  const Tensor x = normal(kShape);
  const Tensor p = positive(kShape);
  const Tensor g = normal(kShape, 8);
  const auto gelu_case = [&](const char* name, bool approximate) {
    return binary(name, "gelu_grad",
                  [=](const Tensor& a, const Tensor& b) { return gelu_grad(a, b, approximate); }, x,
                  g, {{"approximate", approximate}});
  };
  return {
      binary("sqrt_grad", "sqrt_grad", sqrt_grad, p, g),
      binary("rsqrt_grad", "rsqrt_grad", rsqrt_grad, p, g),
      binary("square_grad", "square_grad", square_grad, x, g),
      binary("tanh_grad", "tanh_grad", tanh_grad, tanh(x), g),
      binary("sigmoid_grad", "sigmoid_grad", sigmoid_grad, sigmoid(x), g),
      binary("relu_grad", "relu_grad", relu_grad, relu(x), g),
      gelu_case("gelu_grad", false),
      gelu_case("gelu_tanh_grad", true),
      binary("silu_grad", "silu_grad", silu_grad, x, g),
      binary("pow_grad", "pow_grad",
             [](const Tensor& a, const Tensor& b) { return pow_grad(a, b, 3.0f); }, x, g,
             {{"y", 3.0}}),
  };
}

}  // namespace

std::vector<CallCase> elementwise_cases() {
  std::vector<CallCase> all = binaries();
  for (const auto& more : {unaries(), others(), gradients()})
    all.insert(all.end(), more.begin(), more.end());
  return all;
}

}  // namespace phi::testing
