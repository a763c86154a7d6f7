// Compares tensors element by element.
#include "api/testing/difference.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "phi/core/device/host_array.h"

namespace phi::testing {
namespace {

// The elements as doubles; a complex element is two, its real and imaginary parts.
std::vector<double> as_doubles(const Tensor& x) {
  return visit_any_dtype(x.dtype(), [&]<typename T>() {
    std::vector<double> out;
    const HostArray values(x.dense(), HostArray::kRead);
    for (const T& v : values.array().values<T>()) {
      if constexpr (kIsComplex<T>)
        out.insert(out.end(), {v.real(), v.imag()});
      else if constexpr (sizeof(T) == 2)
        out.push_back(static_cast<float>(v));
      else
        out.push_back(static_cast<double>(v));
    }
    return out;
  });
}

}  // namespace

bool same_within(double got, double want, double most) {
  if (std::isnan(want)) return std::isnan(got);
  return std::isfinite(want) ? std::abs(got - want) <= most : got == want;
}

std::string difference(const Tensor& actual, const Tensor& expected, double tolerance) {
  if (actual.shape() != expected.shape() || actual.dtype() != expected.dtype()) {
    return fmt::format("is {} {}, but {} {} in one process", name_of(actual.dtype()),
                       actual.shape().to_string(), name_of(expected.dtype()),
                       expected.shape().to_string());
  }
  const auto got = as_doubles(actual), want = as_doubles(expected);
  double scale = 1.0;
  for (const double v : want) {
    if (std::isfinite(v)) scale = std::max(scale, std::abs(v));
  }
  for (size_t i = 0; i < want.size(); ++i) {
    if (!same_within(got[i], want[i], tolerance * scale)) {
      return fmt::format("element {} is {}, but {} in one process", i, got[i], want[i]);
    }
  }
  return "";
}

}  // namespace phi::testing
