// Parses the text and draws the values.
#include "api/testing/generate_tensor.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <random>
#include <vector>

#include "phi/common/errors.h"
#include "phi/kernels/cpu/convert.h"

namespace phi::testing {
namespace {

using Values = std::vector<double>;

struct TensorDescription {
  DataType dtype;
  Dims dims;
  std::string how;
  Values numbers;  // arguments in parentheses
};

Values numbers_in(const std::string& list) {
  Values values;
  for (size_t start = 0; start < list.size();) {
    const size_t end = std::min(list.find(',', start), list.size());
    const std::string word = list.substr(start, end - start);
    values.push_back(std::strtod(word.c_str(), nullptr));
    start = end + 1;
  }
  return values;
}

DataType dtype_of_short_name(const std::string& name) {
  for (int i = 1; i < kNumDataTypes; ++i) {
    if (short_name_of(static_cast<DataType>(i)) == name) return static_cast<DataType>(i);
  }
  return parse_dtype(name);
}

TensorDescription parse(const std::string& text) {
  const size_t open = text.find('[');
  const size_t close = text.find(']');
  PHI_CHECK(open != std::string::npos && close != std::string::npos && open < close,
            errors::InvalidArgument("'{}' is not a tensor such as 'f32[5,4] uniform(0,1)'.", text));
  TensorDescription words{dtype_of_short_name(text.substr(0, open)), {}, "", {}};
  for (const double n : numbers_in(text.substr(open + 1, close - open - 1))) {
    words.dims.push_back(static_cast<int64_t>(n));
  }
  std::string how = text.substr(close + 1);
  how.erase(0, std::min(how.find_first_not_of(' '), how.size()));
  const size_t bracket = std::min(how.find('('), how.size());
  words.how = how.substr(0, bracket);
  if (bracket < how.size())
    words.numbers = numbers_in(how.substr(bracket + 1, how.rfind(')') - bracket - 1));
  if (words.how.empty()) {
    words.how = is_integral(words.dtype) || words.dtype == DataType::BOOL ? "integers" : "normal";
  }
  return words;
}

class ValueGenerator {
 public:
  ValueGenerator(const TensorDescription& words, uint32_t seed)
      : words_(words), count_(static_cast<size_t>(words.dims.numel())), rng_(seed) {}

  Values values() {
    const std::map<std::string, Values (ValueGenerator::*)()> ways = {
        {"normal", &ValueGenerator::normal},
        {"integers", &ValueGenerator::integers},
        {"below", &ValueGenerator::below},
        {"uniform", &ValueGenerator::uniform},
        {"positive", &ValueGenerator::positive},
        {"permutation", &ValueGenerator::permutation},
        {"distinct", &ValueGenerator::distinct},
        {"values", &ValueGenerator::listed},
        {"spd", &ValueGenerator::positive_definite},
        {"well_conditioned", &ValueGenerator::well_conditioned},
        {"true", &ValueGenerator::all_true},
        {"false", &ValueGenerator::all_false},
        {"one_of", &ValueGenerator::one_of}};
    const auto way = ways.find(words_.how);
    PHI_CHECK(way != ways.end(),
              errors::InvalidArgument("'{}' is not a distribution.", words_.how));
    return (this->*way->second)();
  }

 private:
  double number(size_t i, double otherwise) const {
    return i < words_.numbers.size() ? words_.numbers[i] : otherwise;
  }
  Values each(const std::function<double()>& draw) {
    Values values(count_);
    std::ranges::generate(values, draw);
    return values;
  }
  Values normal() {
    std::normal_distribution<double> draw(number(0, 0.0), number(1, 1.0));
    return each([&] { return draw(rng_); });
  }
  Values uniform() {
    std::uniform_real_distribution<double> draw(number(0, 0.0), number(1, 1.0));
    return each([&] { return draw(rng_); });
  }
  Values whole(double low, double high) {
    std::uniform_int_distribution<int64_t> draw(static_cast<int64_t>(low),
                                                static_cast<int64_t>(high));
    return each([&] { return static_cast<double>(draw(rng_)); });
  }
  Values integers() {
    if (words_.dtype == DataType::BOOL) return whole(0, 1);
    return whole(number(0, words_.dtype == DataType::UINT8 ? 0 : -5), number(1, 5));
  }
  Values below() { return whole(0, number(0, 1) - 1); }
  Values positive() {
    Values values = normal();
    for (double& v : values) v = v * v + 0.5;
    return values;
  }
  Values permutation() {
    const int64_t row = words_.dims.ndim() > 0 ? words_.dims[words_.dims.ndim() - 1] : 1;
    Values values(count_);
    for (size_t i = 0; i < count_; ++i)
      values[i] = static_cast<double>(static_cast<int64_t>(i) % row);
    for (auto at = values.begin(); at != values.end(); at += row) std::shuffle(at, at + row, rng_);
    return values;
  }
  Values distinct() {
    Values values(count_);
    std::iota(values.begin(), values.end(), 0.0);
    std::shuffle(values.begin(), values.end(), rng_);
    const double step = is_integral(words_.dtype) ? 1.0 : 0.25;
    for (double& v : values) v = (v - std::floor(static_cast<double>(count_) / 2)) * step;
    return values;
  }
  Values listed() {
    PHI_CHECK(words_.numbers.size() == count_,
              errors::InvalidArgument("{} values are listed for {} elements.",
                                      words_.numbers.size(), count_));
    return words_.numbers;
  }
  Values one_of() {
    PHI_CHECK(!words_.numbers.empty(),
              errors::InvalidArgument("one_of() lists no number to draw from."));
    std::uniform_int_distribution<size_t> draw(0, words_.numbers.size() - 1);
    return each([&] { return words_.numbers[draw(rng_)]; });
  }
  // G G^T + n I, for each matrix, with G normal.
  Values positive_definite() {
    const Values factor = normal();
    const auto n = static_cast<size_t>(words_.dims[words_.dims.ndim() - 1]);
    Values values(count_, 0.0);
    for (size_t m = 0; m < count_; m += n * n) {
      for (size_t i = 0; i < n; ++i) {
        for (size_t j = 0; j < n; ++j) {
          double sum = i == j ? static_cast<double>(n) : 0.0;
          for (size_t k = 0; k < n; ++k) sum += factor[m + i * n + k] * factor[m + j * n + k];
          values[m + i * n + j] = sum;
        }
      }
    }
    return values;
  }
  // Small random elements, with a dominant diagonal of distinct values.
  Values well_conditioned() {
    Values values = normal();
    const auto rows = static_cast<size_t>(words_.dims[words_.dims.ndim() - 2]);
    const auto columns = static_cast<size_t>(words_.dims[words_.dims.ndim() - 1]);
    for (double& v : values) v *= 0.3;
    for (size_t m = 0; m < count_; m += rows * columns) {
      for (size_t i = 0; i < std::min(rows, columns); ++i) {
        values[m + i * columns + i] += 2.0 + static_cast<double>(i);
      }
    }
    return values;
  }
  Values all_true() { return Values(count_, 1.0); }
  Values all_false() { return Values(count_, 0.0); }

  const TensorDescription& words_;
  size_t count_;
  std::mt19937 rng_;
};

}  // namespace

Tensor generate_tensor(const std::string& text, uint32_t seed) {
  const TensorDescription words = parse(text);
  const Values values = ValueGenerator(words, seed).values();
  const Values imaginary =
      is_complex(words.dtype) ? ValueGenerator(words, seed + 7919).values() : Values();
  DenseTensor out = DenseTensor::empty({words.dims, words.dtype}, CPUPlace());
  visit_any_dtype(words.dtype, [&]<typename T>() {
    T* to = out.mutable_data<T>();
    for (size_t i = 0; i < values.size(); ++i) {
      if constexpr (kIsComplex<T>) {
        using Part = typename T::value_type;
        to[i] = T(static_cast<Part>(values[i]), static_cast<Part>(imaginary[i]));
      } else {
        to[i] = convert_value<T>(values[i]);
      }
    }
  });
  return Tensor(out);
}

}  // namespace phi::testing
