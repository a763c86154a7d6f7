// From tensors to numbers, and their comparison.
#include "record.h"

#include <fmt/core.h>

#include <cmath>

#include "phi/core/device/host_array.h"

namespace phi::testing::programs {
namespace {

std::vector<double> numbers(const DenseTensor& x) {
  const HostArray here(x, HostArray::kRead);
  return visit_dtype(x.dtype(), [&]<typename T>() {
    std::vector<double> out;
    for (const T& value : here.array().values<T>()) {
      if constexpr (sizeof(T) == 2) {
        out.push_back(static_cast<float>(value));
      } else {
        out.push_back(static_cast<double>(value));
      }
    }
    return out;
  });
}

Tensor summed_up(const Tensor& x) {
  std::vector<distributed::Placement> placements(x.placements().begin(), x.placements().end());
  for (auto& placement : placements) {
    if (placement.is_partial()) placement = distributed::Replicate();
  }
  return distributed::reshard(x, x.mesh(), placements);
}

// "result 2 of run 0": "result".
std::string kind_of(const Entry& entry) { return entry.what.substr(0, entry.what.find(' ')); }

std::string describe(const Entry& entry) {
  if (!entry.outcome.empty()) return entry.outcome;
  return entry.meta.to_string() + (entry.attr ? " " + entry.attr->to_string() : " plain");
}

// The element of `whole` at the place of element `i` of a box.
size_t index_in(const Dims& whole, const Box& box, size_t i) {
  size_t index = 0;
  size_t stride = 1;
  for (int d = whole.ndim() - 1; d >= 0; --d) {
    const auto extent = static_cast<size_t>(box.size[d]);
    index += (i % extent + static_cast<size_t>(box.offset[d])) * stride;
    i /= extent;
    stride *= static_cast<size_t>(whole[d]);
  }
  return index;
}

double magnitude(const std::vector<double>& values) {
  double most = 1;
  for (const double value : values) most = std::max(most, std::abs(value));
  return most;
}

double rounding_of(const Entry& entry) {
  return (entry.meta.dtype == DataType::FLOAT64 ? 1e-10 : 1e-4) * magnitude(entry.values);
}

Difference values_differ(const Entry& entry, size_t i, double actual, double expected) {
  return {"values of " + kind_of(entry),
          fmt::format("{} {}: element {} is {:.17g}, expected {:.17g}", entry.what, describe(entry),
                      i, actual, expected)};
}

bool same_bits(double a, double b) { return a == b || (std::isnan(a) && std::isnan(b)); }

std::optional<Difference> difference_of_part(const Entry& part, const Entry& whole) {
  if (part.outcome != whole.outcome || part.meta != whole.meta) {
    return Difference{"kind of " + kind_of(part), fmt::format("{} is {}, expected {}", part.what,
                                                              describe(part), describe(whole))};
  }
  const double tolerance = rounding_of(whole);
  for (size_t i = 0; i < part.values.size(); ++i) {
    const size_t at = part.attr ? index_in(whole.meta.dims, part.part, i) : i;
    const double expected = whole.values[at];
    if (std::abs(part.values[i] - expected) <= tolerance || same_bits(part.values[i], expected)) {
      continue;
    }
    return values_differ(part, i, part.values[i], expected);
  }
  return std::nullopt;
}

std::optional<Difference> difference(const Entry& actual, const Entry& expected, bool rounded) {
  const bool alike = actual.outcome == expected.outcome && actual.meta == expected.meta &&
                     actual.attr == expected.attr && actual.is_here == expected.is_here &&
                     actual.values.size() == expected.values.size();
  if (!alike) {
    return Difference{
        "kind of " + kind_of(actual),
        fmt::format("{} is {}, expected {}", actual.what, describe(actual), describe(expected))};
  }
  const double tolerance = rounded ? rounding_of(expected) : 0;
  for (size_t i = 0; i < actual.values.size(); ++i) {
    if (same_bits(actual.values[i], expected.values[i])) continue;
    if (std::abs(actual.values[i] - expected.values[i]) <= tolerance) continue;
    return values_differ(actual, i, actual.values[i], expected.values[i]);
  }
  return std::nullopt;
}

template <typename Compare>
std::optional<Difference> first_difference(const Record& actual, const Record& expected,
                                           const Compare& compare) {
  if (actual.size() != expected.size()) {
    return Difference{"number", fmt::format("{} results and outcomes, expected {}", actual.size(),
                                            expected.size())};
  }
  for (size_t i = 0; i < actual.size(); ++i) {
    if (const auto found = compare(actual[i], expected[i])) return found;
  }
  return std::nullopt;
}

}  // namespace

Entry entry_of(std::string what, std::string outcome) {
  Entry entry;
  entry.what = std::move(what);
  entry.outcome = std::move(outcome);
  return entry;
}

Entry entry_of(std::string what, const Tensor& x) {
  const NoGrad no_grad;
  Entry entry;
  entry.what = std::move(what);
  entry.meta = x.meta();
  if (!x.is_dist()) {
    entry.values = numbers(x.dense());
    return entry;
  }
  entry.attr = x.dist_attr();
  const Tensor whole = summed_up(x);
  const auto coord = x.mesh().coord_of(distributed::rank());
  entry.is_here = whole.initialized() || whole.nbytes_anywhere() > 0;
  // Nobody has a part who should not, and the other way round.
  if (entry.is_here != coord.has_value()) {
    entry.outcome = entry.is_here ? "bytes outside of the mesh" : "no bytes within the mesh";
  }
  if (!coord) return entry;
  entry.part = distributed::local_box(x.shape(), *whole.dist_attr(), *coord);
  entry.values = numbers(whole.dist().local());
  return entry;
}

std::optional<Difference> difference(const Record& actual, const Record& expected, bool rounded) {
  return first_difference(actual, expected, [rounded](const Entry& a, const Entry& b) {
    return difference(a, b, rounded);
  });
}

std::optional<Difference> difference_of_parts(const Record& actual, const Record& expected) {
  return first_difference(actual, expected, difference_of_part);
}

}  // namespace phi::testing::programs
