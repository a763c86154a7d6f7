// Operators that choose elements along an axis, of numbers that tie, with NaN, infinities and zeros
// of both signs among them: what they choose is what a plain loop over each line does.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <numeric>
#include <string>
#include <vector>

#include "api/testing/generate_tensor.h"
#include "phi/api.h"
#include "tests/support/rare_values.h"

namespace phi::testing {
namespace {

using Line = std::vector<double>;
using Places = std::vector<size_t>;

// NaN is larger than all numbers, and zeros are equal.
bool is_less(double a, double b) { return !std::isnan(a) && (std::isnan(b) || a < b); }
bool is_more(double a, double b) { return is_less(b, a); }

Places in_order(const Line& line, bool descending) {
  Places places(line.size());
  std::iota(places.begin(), places.end(), size_t{0});
  std::ranges::stable_sort(places, [&](size_t a, size_t b) {
    return descending ? is_more(line[a], line[b]) : is_less(line[a], line[b]);
  });
  return places;
}

// The first that no other one beats; NaN beats all.
template <typename Beats>
size_t first_best(const Line& line, Beats beats) {
  size_t best = 0;
  for (size_t i = 0; i < line.size() && !std::isnan(line[best]); ++i) {
    if (std::isnan(line[i]) || beats(line[i], line[best])) best = i;
  }
  return best;
}

// Up to each place the last that no other one beats; NaN beats all.
template <typename Beats>
Places best_so_far(const Line& line, Beats beats) {
  Places places;
  size_t best = 0;
  for (size_t i = 0; i < line.size(); ++i) {
    const bool stays = beats(line[best], line[i]) && !std::isnan(line[i]);
    if (std::isnan(line[i]) || (!std::isnan(line[best]) && !stays)) best = i;
    places.push_back(best);
  }
  return places;
}

// The smallest of the most frequent, at its last place.
size_t most_frequent(const Line& line) {
  const Places places = in_order(line, false);
  size_t most = 0, best = 0;
  for (size_t begin = 0, end = 0; begin < places.size(); begin = end) {
    while (end < places.size() && !is_less(line[places[begin]], line[places[end]])) ++end;
    if (end - begin > most) best = places[end - 1];
    most = std::max(most, end - begin);
  }
  return best;
}

// What an operator gives: values, places of them, or both.
struct Given {
  Tensor values;
  Tensor places;
};

struct Chooser {
  std::string name;
  std::function<Given(const Tensor& x, int axis)> call;
  std::function<Places(const Line& line)> expected;
};

Given both(const std::tuple<Tensor, Tensor>& outputs) {
  return {std::get<0>(outputs), std::get<1>(outputs)};
}

Places first_of(Places places, size_t count) {
  places.resize(std::min(count, places.size()));
  return places;
}

std::vector<Chooser> choosers() {
  const auto less = [](double a, double b) { return a < b; };
  const auto more = [](double a, double b) { return a > b; };
  std::vector<Chooser> all = {
      {"argmax",
       [](const Tensor& x, int axis) {
         return Given{{}, argmax(x, axis)};
       },
       [=](const Line& line) { return Places{first_best(line, more)}; }},
      {"argmin",
       [](const Tensor& x, int axis) {
         return Given{{}, argmin(x, axis)};
       },
       [=](const Line& line) { return Places{first_best(line, less)}; }},
      {"max",
       [](const Tensor& x, int axis) {
         return Given{max(x, {axis}), {}};
       },
       [=](const Line& line) { return Places{first_best(line, more)}; }},
      {"min",
       [](const Tensor& x, int axis) {
         return Given{min(x, {axis}), {}};
       },
       [=](const Line& line) { return Places{first_best(line, less)}; }},
      {"cummax", [](const Tensor& x, int axis) { return both(cummax(x, axis)); },
       [=](const Line& line) { return best_so_far(line, more); }},
      {"cummin", [](const Tensor& x, int axis) { return both(cummin(x, axis)); },
       [=](const Line& line) { return best_so_far(line, less); }},
      {"mode", [](const Tensor& x, int axis) { return both(mode(x, axis)); },
       [](const Line& line) { return Places{most_frequent(line)}; }}};
  for (const bool descending : {false, true}) {
    all.push_back({fmt::format("argsort {}", descending),
                   [=](const Tensor& x, int axis) { return both(argsort(x, axis, descending)); },
                   [=](const Line& line) { return in_order(line, descending); }});
    for (const int k : {1, 2, 5}) {
      all.push_back({fmt::format("topk {} {}", k, descending),
                     [=](const Tensor& x, int axis) {
                       const int64_t n = x.shape()[axis];
                       return both(topk(x, std::min<int64_t>(k, n), axis, descending));
                     },
                     [=](const Line& line) {
                       return first_of(in_order(line, descending), static_cast<size_t>(k));
                     }});
    }
  }
  for (const int k : {1, 2}) {
    all.push_back({fmt::format("kthvalue {}", k),
                   [=](const Tensor& x, int axis) { return both(kthvalue(x, k, axis)); },
                   [=](const Line& line) {
                     return Places{in_order(line, false)[static_cast<size_t>(k - 1)]};
                   }});
  }
  return all;
}

std::vector<double> as_doubles(const Tensor& x) {
  return cast(x, DataType::FLOAT64).to_vector<double>();
}

// Lines of n elements along an axis: how many before it, and how far apart their elements are.
struct Lines {
  int64_t outer, n, inner;
};
Lines lines_along(const Dims& shape, int axis) {
  return {shape.numel(0, axis), shape[axis], shape.numel(axis + 1, shape.ndim())};
}

void check(const Chooser& chooser, const Tensor& x, int axis) {
  const auto [outer, n, inner] = lines_along(x.shape(), axis);
  const Given given = chooser.call(x, axis);
  const std::vector<double> all = as_doubles(x);
  const auto values = given.values.defined() ? as_doubles(given.values) : std::vector<double>();
  const auto places = given.places.defined() ? as_doubles(given.places) : std::vector<double>();
  for (int64_t o = 0; o < outer; ++o) {
    for (int64_t i = 0; i < inner; ++i) {
      Line line;
      for (int64_t k = 0; k < n; ++k) line.push_back(all[(o * n + k) * inner + i]);
      const Places expected = chooser.expected(line);
      const auto count = std::ssize(expected);
      for (int64_t k = 0; k < count; ++k) {
        const auto at = static_cast<size_t>((o * count + k) * inner + i);
        const size_t place = expected[static_cast<size_t>(k)];
        if (!places.empty()) {
          ASSERT_EQ(places[at], static_cast<double>(place));
        }
        if (!values.empty()) {
          ASSERT_TRUE(same_number(values[at], line[place])) << values[at];
        }
      }
    }
  }
}

TEST(Ties, AreSettledAsInAPlainLoop) {
  const std::vector<std::string> draws = {"one_of(nan,-inf,inf,-0,0,1,1,2)", "one_of(nan,nan,1)",
                                          "one_of(-1,0,1,1,2)", "one_of(2)"};
  const std::vector<std::pair<std::string, int>> shapes = {
      {"2", 1},      {"7", 1},    {"5,4", 2},    {"3,6,5", 3},
      {"2,33,3", 3}, {"40,2", 2}, {"2,1030", 2}, {"2,1030,2", 3}};
  for (const Chooser& chooser : choosers()) {
    for (const char* dtype : {"f32", "f64", "f16", "bf16", "i32", "i64"}) {
      for (const std::string& draw : draws) {
        if (dtype[0] == 'i' && draw.find("nan") != std::string::npos) continue;
        for (const auto& [shape, ndim] : shapes) {
          for (int axis = 0; axis < ndim; ++axis) {
            const std::string text = fmt::format("{}[{}] {}", dtype, shape, draw);
            SCOPED_TRACE(fmt::format("{} of {} along {}", chooser.name, text, axis));
            check(chooser, generate_tensor(text, static_cast<uint32_t>(axis + 1)), axis);
          }
        }
      }
    }
  }
}

}  // namespace
}  // namespace phi::testing
