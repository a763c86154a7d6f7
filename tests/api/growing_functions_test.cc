// What entries say of functions that grow (`partial: up x`), asked of the kernels: they never fall
// but by rounding, and give NaN for NaN.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "api/call/named_call.h"
#include "api/rules/op_rule.h"
#include "phi/tensor_api.h"
#include "tests/support/rare_values.h"

namespace phi::testing {
namespace {

// Numbers of both signs, small and large, in order.
std::vector<float> ascending() {
  std::vector<float> values;
  for (const double v : rare_floats<float>()) {
    if (!std::isnan(v)) values.push_back(static_cast<float>(v));
  }
  for (int i = -2000; i <= 2000; ++i) values.push_back(0.0173f * static_cast<float>(i));
  std::ranges::sort(values);
  return values;
}

bool is_function_of_one(const OpRule& rule) {
  return rule.tensors().size() == 1 && rule.tensors()[0].kind == TensorKind::kOne &&
         rule.partial().find("up ") != std::string_view::npos;
}

std::vector<float> results(const OpRule& rule, const std::vector<float>& x) {
  std::vector<std::pair<std::string, AttributeValue>> attributes;
  for (const auto& attribute : rule.attributes()) {
    if (attribute.by_default) continue;
    if (attribute.kind == AttributeKind::kDataType) {
      attributes.emplace_back(attribute.name, DataType::FLOAT32);
    } else {
      attributes.emplace_back(attribute.name,
                              std::string_view(attribute.name) == "min" ? -2.0 : 3.0);
    }
  }
  const Tensor in =
      Tensor::from<float>(std::span<const float>(x), Dims{static_cast<int64_t>(x.size())});
  return call_op(rule.name(), {{in}}, attributes)[0].to_vector<float>();
}

TEST(GrowingFunctions, NeverFallAndKeepNaN) {
  const std::vector<float> x = ascending();
  int tried = 0;
  for (const OpRule& rule : rules::all()) {
    if (!is_function_of_one(rule)) continue;
    SCOPED_TRACE(std::string(rule.name()));
    ++tried;
    const std::vector<float> y = results(rule, x);
    ASSERT_EQ(y.size(), x.size());
    for (size_t i = 1; i < x.size(); ++i) {
      if (std::isinf(y[i - 1]) && y[i - 1] == y[i]) continue;
      const float rounding = 4 * std::numeric_limits<float>::epsilon() * std::abs(y[i - 1]);
      ASSERT_GE(y[i] + rounding, y[i - 1]) << x[i - 1] << " and " << x[i];
    }
    const float nan = std::numeric_limits<float>::quiet_NaN();
    EXPECT_TRUE(std::isnan(results(rule, {nan, 1.0f, nan})[0]));
  }
  EXPECT_GE(tried, 15);
}

}  // namespace
}  // namespace phi::testing
