// Comparing recorded values.
#include "api/testing/recorded_values.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>

#include "api/testing/difference.h"
#include "phi/core/device/host_array.h"

namespace phi::testing {
namespace {

using ComplexValues = std::vector<std::complex<double>>;

ComplexValues numbers_of(const Tensor& x) {
  ComplexValues numbers;
  visit_any_dtype(x.dtype(), [&]<typename T>() {
    const HostArray values(x.dense(), HostArray::kRead);
    for (const T& v : values.array().values<T>()) {
      if constexpr (kIsComplex<T>) {
        numbers.emplace_back(v.real(), v.imag());
      } else {
        numbers.emplace_back(static_cast<double>(convert_number(v)));
      }
    }
  });
  return numbers;
}

double largest_magnitude(const ComplexValues& numbers) {
  double largest = 0;
  for (const auto& v : numbers) {
    if (std::isfinite(v.real()) && std::isfinite(v.imag()))
      largest = std::max(largest, std::abs(v));
  }
  return largest;
}

std::string text_of(const std::complex<double>& v, DataType dtype) {
  return is_complex(dtype) ? fmt::format("{}{:+}j", v.real(), v.imag())
                           : fmt::format("{}", v.real());
}

// Removes the factor of each column (row) of `got`, computed at its largest element. A factor whose
// magnitude is not 1 is kept.
struct Matrices {
  int64_t rows, columns;
  bool by_rows;
  size_t at(int64_t line, int64_t i, int64_t matrix) const {
    const int64_t row = by_rows ? line : i;
    const int64_t column = by_rows ? i : line;
    return static_cast<size_t>((matrix * rows + row) * columns + column);
  }
  int64_t lines() const { return by_rows ? rows : columns; }
  int64_t length() const { return by_rows ? columns : rows; }
};

void take_factor(const Matrices& m, int64_t matrix, int64_t line, const ComplexValues& want,
                 ComplexValues& got) {
  size_t largest = m.at(line, 0, matrix);
  for (int64_t i = 1; i < m.length(); ++i) {
    const size_t at = m.at(line, i, matrix);
    if (std::abs(want[at]) > std::abs(want[largest])) largest = at;
  }
  const auto factor = got[largest] / want[largest];
  if (!(std::abs(std::abs(factor) - 1.0) < 1e-3)) return;
  for (int64_t i = 0; i < m.length(); ++i) got[m.at(line, i, matrix)] /= factor / std::abs(factor);
}

void take_factors(const Dims& dims, bool by_rows, const ComplexValues& want, ComplexValues& got) {
  if (dims.ndim() < 2 || want.empty()) return;
  const Matrices m{dims[dims.ndim() - 2], dims[dims.ndim() - 1], by_rows};
  const int64_t matrices = dims.numel() / (m.rows * m.columns);
  for (int64_t matrix = 0; matrix < matrices; ++matrix) {
    for (int64_t line = 0; line < m.lines(); ++line) take_factor(m, matrix, line, want, got);
  }
}

}  // namespace

double usual_tolerance(DataType dtype) {
  switch (real_part_of(dtype)) {
    case DataType::FLOAT32:
      return 1e-5;
    case DataType::FLOAT64:
      return 1e-12;
    case DataType::FLOAT16:
    case DataType::BFLOAT16:
      return 1e-2;
    default:
      return 0.0;
  }
}

std::string compare_values(const Tensor& got, const Tensor& expected, double tolerance,
                           Freedom freedom) {
  const auto wanted = [&] { return fmt::format("expected {}", text_of_values(expected)); };
  // A recorded output without elements may be undefined here.
  if (!got.defined()) return expected.numel() == 0 ? "" : wanted() + ", got none";
  if (got.shape() != expected.shape() || got.dtype() != expected.dtype()) {
    return fmt::format("{}, got {}", wanted(), text_of_values(got));
  }
  const ComplexValues want = numbers_of(expected);
  ComplexValues here = numbers_of(got);
  if (freedom != Freedom::kNone) {
    take_factors(expected.shape(), freedom == Freedom::kRowFactors, want, here);
  }
  // The smallest normal number allows underflow where all expected values are 0.
  const double most = std::max(tolerance * largest_magnitude(want),
                               tolerance > 0 ? double{std::numeric_limits<float>::min()} : 0.0);
  for (size_t i = 0; i < want.size(); ++i) {
    if (same_within(here[i].real(), want[i].real(), most) &&
        same_within(here[i].imag(), want[i].imag(), most)) {
      continue;
    }
    return fmt::format("{}, got {}; element {} is {}, not {}", wanted(), text_of_values(got), i,
                       text_of(here[i], got.dtype()), text_of(want[i], got.dtype()));
  }
  return "";
}

bool is_zero(const Tensor& x) {
  return std::ranges::all_of(numbers_of(x), [](const auto& v) { return v == 0.0; });
}

bool has_negative_zero(const Tensor& x) {
  return std::ranges::any_of(numbers_of(x), [](const auto& v) {
    return (v.real() == 0.0 && std::signbit(v.real())) ||
           (v.imag() == 0.0 && std::signbit(v.imag()));
  });
}

std::string text_of_values(const Tensor& x) {
  constexpr size_t kShown = 8;
  const ComplexValues numbers = numbers_of(x);
  std::vector<std::string> words;
  for (size_t i = 0; i < std::min(numbers.size(), kShown); ++i) {
    words.push_back(text_of(numbers[i], x.dtype()));
  }
  if (numbers.size() > kShown) words.emplace_back("..");
  return fmt::format("{} [{}]", x.to_string(), fmt::join(words, ", "));
}

}  // namespace phi::testing
