// Compares chunks of both checkpoints as numbers.
#include "distributed/checkpoint/compare.h"

#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "distributed/checkpoint/format/convert.h"
#include "phi/common/errors.h"
#include "phi/core/box_chunks.h"

namespace phi::distributed::checkpoint {
namespace {

constexpr int64_t kComparedElements = 1 << 16;

class Comparison {
 public:
  explicit Comparison(const std::string& name) { found_.name = name; }

  template <typename T>
  void add(const std::vector<T>& a, const std::vector<T>& b) {
    for (size_t i = 0; i < a.size(); ++i, ++at_) add(a[i], b[i]);
  }
  const TensorDifference& found() const { return found_; }

 private:
  void add(double a, double b) {
    if (a == b || (std::isnan(a) && std::isnan(b))) return;
    const double size = std::max(std::abs(a), std::abs(b));
    tell(std::abs(a - b), std::abs(a - b) / size);
  }
  void add(int64_t a, int64_t b) {
    if (a == b) return;
    // The distance of two values with opposite signs may overflow int64_t.
    const double difference = static_cast<double>(a) - static_cast<double>(b);
    const double size =
        std::max(std::abs(static_cast<double>(a)), std::abs(static_cast<double>(b)));
    tell(std::max(1.0, std::abs(difference)), std::max(1.0, std::abs(difference)) / size);
  }
  void tell(double difference, double relative) {
    if (std::isnan(difference)) difference = std::numeric_limits<double>::infinity();
    if (std::isnan(relative)) relative = std::numeric_limits<double>::infinity();
    if (found_.elements++ == 0 || difference > found_.largest) {
      found_.largest = difference;
      found_.where = at_;
    }
    found_.relative = std::max(found_.relative, relative);
  }

  TensorDifference found_;
  int64_t at_ = 0;
};

template <typename T>
TensorDifference compare_as(const Checkpoint& a, const Checkpoint& b, const std::string& name) {
  Comparison comparison(name);
  std::vector<T> of_a;
  std::vector<T> of_b;
  for_each_chunk(Box::whole(a.meta(name).dims), kComparedElements, [&](const Box& chunk) {
    of_a.resize(static_cast<size_t>(chunk.numel()));
    of_b.resize(of_a.size());
    a.read(name, chunk, dtype_of<T>(), of_a.data());
    b.read(name, chunk, dtype_of<T>(), of_b.data());
    comparison.add(of_a, of_b);
  });
  return comparison.found();
}

template <typename T>
std::vector<int64_t> read_integers(const Checkpoint& from, const std::string& name,
                                   const Box& box) {
  std::vector<T> values(static_cast<size_t>(box.numel()));
  from.read(name, box, from.meta(name).dtype, values.data());
  return {values.begin(), values.end()};
}

std::vector<int64_t> read_integers(const Checkpoint& from, const std::string& name,
                                   const Box& box) {
  switch (size_of(from.meta(name).dtype)) {
    case 1:
      return read_integers<uint8_t>(from, name, box);
    case 4:
      return read_integers<int32_t>(from, name, box);
    default:
      return read_integers<int64_t>(from, name, box);
  }
}

TensorDifference compare_values(const Checkpoint& a, const Checkpoint& b, const std::string& name) {
  const TensorMeta& meta = a.meta(name);
  if (convertible(meta.dtype, DataType::FLOAT64)) return compare_as<double>(a, b, name);
  Comparison comparison(name);
  for_each_chunk(Box::whole(meta.dims), kComparedElements, [&](const Box& chunk) {
    comparison.add(read_integers(a, name, chunk), read_integers(b, name, chunk));
  });
  return comparison.found();
}

std::vector<int64_t> index_of(int64_t flat, const Dims& dims) {
  std::vector<int64_t> index(static_cast<size_t>(dims.ndim()));
  for (int d = dims.ndim() - 1; d >= 0; --d) {
    index[static_cast<size_t>(d)] = flat % dims[d];
    flat /= dims[d];
  }
  return index;
}

}  // namespace

std::string TensorDifference::to_string(const Checkpoint& a, const Checkpoint& b) const {
  switch (kind) {
    case Kind::kMissing:
      return fmt::format("is only in '{}'", a.path());
    case Kind::kExtra:
      return fmt::format("is only in '{}'", b.path());
    case Kind::kMeta:
      return fmt::format("is {} and {}", a.meta(name).to_string(), b.meta(name).to_string());
    case Kind::kValues:
      break;
  }
  const Dims& dims = a.meta(name).dims;
  return fmt::format("differs in {} of {} elements, by up to {:.6g} (at [{}]), relative {:.3g}",
                     elements, dims.numel(), largest, fmt::join(index_of(where, dims), ","),
                     relative);
}

std::vector<TensorDifference> compare(const Checkpoint& a, const Checkpoint& b) {
  using Kind = TensorDifference::Kind;
  std::set<std::string> names;
  for (const Checkpoint* each : {&a, &b}) {
    for (const std::string& name : each->names()) names.insert(name);
  }
  std::vector<TensorDifference> differences;
  for (const std::string& name : names) {
    if (!b.contains(name)) {
      differences.push_back({name, Kind::kMissing});
    } else if (!a.contains(name)) {
      differences.push_back({name, Kind::kExtra});
    } else if (a.meta(name).dims != b.meta(name).dims ||
               !convertible(a.meta(name).dtype, b.meta(name).dtype)) {
      differences.push_back({name, Kind::kMeta});
    } else if (const TensorDifference found = compare_values(a, b, name); found.elements > 0) {
      differences.push_back(found);
    }
  }
  return differences;
}

}  // namespace phi::distributed::checkpoint
