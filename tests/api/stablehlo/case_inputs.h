// What the tables of calls are made of.
#pragma once

#include <random>
#include <vector>

#include "phi/api.h"
#include "tests/api/stablehlo/call_cases.h"

namespace phi::testing {

inline Tensor normal(const Dims& shape, int seed = 1, DataType dtype = DataType::FLOAT32) {
  return gaussian(shape, 0.0f, 1.0f, seed, dtype);
}
inline Tensor positive(const Dims& shape, int seed = 2) {
  return add(square(normal(shape, seed)), full({1}, 0.5f));
}
inline Tensor ids(const Dims& shape, int64_t below, int seed = 3) {
  std::vector<int64_t> values(static_cast<size_t>(shape.numel()));
  std::mt19937 rng(static_cast<uint32_t>(seed));
  for (auto& value : values) value = static_cast<int64_t>(rng() % static_cast<uint64_t>(below));
  return Tensor::from<int64_t>(values, shape);
}

// 16-bit results agree to the last bit or two.
inline constexpr double kBfloat16 = 0.01;
inline constexpr double kDouble = 1e-12;

/// One argument of a call.
inline std::vector<OptionalTensor> one(OptionalTensor x) { return {std::move(x)}; }
inline std::vector<OptionalTensor> none() { return {std::nullopt}; }

using Attributes = std::vector<ir::Attribute>;
using Integers = std::vector<int64_t>;

/// The outputs of a call that gives a tuple.
template <typename... T>
TensorList list_of(const std::tuple<T...>& outputs) {
  return std::apply([](const auto&... x) { return TensorList{x...}; }, outputs);
}

template <typename F>
CallCase unary(const char* op, F f, Tensor x = normal({8, 5}), Attributes attributes = {}) {
  return {op, op, {one(x)}, std::move(attributes), [=] { return TensorList{f(x)}; }};
}
template <typename F>
CallCase binary(std::string name, const char* op, F f, Tensor x, Tensor y,
                Attributes attributes = {}) {
  return {std::move(name), op, {one(x), one(y)}, std::move(attributes), [=] {
            return TensorList{f(x, y)};
          }};
}

}  // namespace phi::testing
