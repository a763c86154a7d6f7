// For kernel tests: arrays from and to doubles, tolerances per dtype, and a LaunchView without a
// communicator.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <barrier>
#include <bit>
#include <cmath>
#include <cstring>
#include <functional>
#include <mutex>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "phi/common/errors.h"
#include "phi/core/dense_tensor.h"
#include "phi/core/device/device_context.h"
#include "phi/kernels/functors/hd.h"
#include "tests/support/rare_values.h"

namespace phi::testing {

using Values = std::vector<double>;

/// Uniform in [low, high), rounded so that every floating dtype holds them exactly.
inline Values random_values(int64_t n, uint32_t seed, double low = -1, double high = 1) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<double> draw(low, high);
  double steps = 64;  // per unit; bfloat16 holds 8 significant bits
  while (std::max(std::abs(low), std::abs(high)) * steps > 256) steps /= 2;
  Values values(n);
  for (double& v : values) v = std::round(draw(engine) * steps) / steps;
  return values;
}

template <typename T>
T from_double(double value) {
  if constexpr (std::is_integral_v<T> || std::is_same_v<T, double>) return static_cast<T>(value);
  return T(static_cast<float>(value));
}

template <typename T>
DenseTensor tensor(const Values& values, const Dims& dims) {
  DenseTensor out = DenseTensor::empty({dims, dtype_of<T>()}, CPUPlace());
  EXPECT_EQ(static_cast<int64_t>(values.size()), dims.numel());
  std::transform(values.begin(), values.end(), out.mutable_data<T>(), from_double<T>);
  return out;
}

template <typename T>
DenseTensor blank(const Dims& dims) {
  return tensor<T>(Values(dims.numel(), 77), dims);  // a kernel that leaves an element shows
}

inline DenseTensor blank_like(const TensorMeta& meta) {
  return visit_dtype(meta.dtype, [&]<typename T>() { return blank<T>(meta.dims); });
}

inline Values to_doubles(const DenseTensor& x) {
  return visit_dtype(x.dtype(), [&]<typename T>() {
    Values out;
    for (const T& v : x.values<T>()) {
      if constexpr (std::is_same_v<T, float16> || std::is_same_v<T, bfloat16>) {
        out.push_back(static_cast<float>(v));
      } else {
        out.push_back(static_cast<double>(v));
      }
    }
    return out;
  });
}

/// Rare numbers of T over and over.
template <typename T>
DenseTensor rare_tensor(const Dims& dims) {
  const std::vector<T> list = rare_numbers<T>();
  DenseTensor out = DenseTensor::empty({dims, dtype_of<T>()}, CPUPlace());
  T* values = out.mutable_data<T>();
  for (int64_t i = 0; i < dims.numel(); ++i) values[i] = list[static_cast<size_t>(i) % list.size()];
  return out;
}

/// The elements' bits.
inline std::vector<uint64_t> bits_of(const DenseTensor& x) {
  const size_t width = size_of(x.dtype());
  const auto* bytes = static_cast<const std::byte*>(x.raw_data());
  std::vector<uint64_t> out(static_cast<size_t>(x.numel()));
  for (size_t i = 0; i < out.size(); ++i) std::memcpy(&out[i], bytes + i * width, width);
  return out;
}

/// Each number of `list` beside each other one.
template <typename T>
struct RarePairs {
  Values x, y;
  explicit RarePairs(const Values& list) {
    for (double a : list) {
      for (double b : list) {
        x.push_back(a);
        y.push_back(b);
      }
    }
  }
  RarePairs() : RarePairs(rare_floats<T>()) {}
  Dims dims() const { return {static_cast<int64_t>(x.size())}; }
};

/// Every number of a 16-bit dtype, NaN of all kinds included.
template <typename T>
Values every_number() {
  static_assert(kIs16Bit<T>);
  Values out;
  for (uint32_t bits = 0; bits < 65536; ++bits) {
    T value;
    value.bits = static_cast<uint16_t>(bits);
    out.push_back(static_cast<float>(value));
  }
  return out;
}

/// `n` float32 with random bits: of all magnitudes, infinities and NaN among them.
inline Values random_bits_of_float(int64_t n, uint32_t seed) {
  std::mt19937 engine(seed);
  Values out(n);
  for (double& v : out) v = std::bit_cast<float>(static_cast<uint32_t>(engine()));
  return out;
}

/// What rounding of T's results and of its sums may cost, relative to max(1, |expected|).
template <typename T>
constexpr double tolerance() {
  if constexpr (std::is_same_v<T, double>) return 1e-12;
  if constexpr (std::is_same_v<T, bfloat16>) return 1.0 / 128;
  if constexpr (std::is_same_v<T, float16>) return 1.0 / 1024;
  return 2e-5;
}

inline void expect_close(const Values& got, const Values& expected, double limit,
                         const std::string& what = "") {
  ASSERT_EQ(got.size(), expected.size()) << what;
  for (size_t i = 0; i < got.size(); ++i) {
    if (std::isnan(expected[i]) && std::isnan(got[i])) continue;
    if (got[i] == expected[i]) continue;
    const double error = std::abs(got[i] - expected[i]) / std::max(1.0, std::abs(expected[i]));
    ASSERT_TRUE(error <= limit) << what << " element " << i << ": got " << got[i] << ", expected "
                                << expected[i];
  }
}

template <typename T>
void expect_close(const DenseTensor& got, const Values& expected, const std::string& what = "") {
  expect_close(to_doubles(got), expected, tolerance<T>(), what);
}

/// Runs `body`, which must throw an Error of this code whose text holds `part`.
inline void expect_error(ErrorCode code, const std::string& part,
                         const std::function<void()>& body) {
  try {
    body();
    ADD_FAILURE() << "no error, expected one with: " << part;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), code) << error.what();
    EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << error.what();
  }
}
inline void expect_error(const std::string& part, const std::function<void()>& body) {
  expect_error(ErrorCode::kInvalidArgument, part, body);
}

/// `n` ranks as threads that combine arrays with one another.
class Ranks {
 public:
  explicit Ranks(int n) : size_(n), barrier_(n) {}

  void run(const std::function<void(int rank)>& body) {
    std::vector<std::thread> threads;
    threads.reserve(static_cast<size_t>(size_));
    for (int rank = 0; rank < size_; ++rank) threads.emplace_back(body, rank);
    for (auto& thread : threads) thread.join();
  }

  void combine(CombineKind kind, DenseTensor* values) {
    const Values mine = to_doubles(*values);
    {
      std::lock_guard lock(mutex_);
      const bool is_first = total_.empty();
      if (is_first) total_ = mine;
      for (size_t i = 0; i < mine.size() && !is_first; ++i) {
        total_[i] = kind == CombineKind::kMax ? std::max(total_[i], mine[i]) : total_[i] + mine[i];
      }
    }
    barrier_.arrive_and_wait();
    visit_dtype(values->dtype(), [&]<typename T>() {
      std::transform(total_.begin(), total_.end(), values->mutable_data<T>(), from_double<T>);
    });
    barrier_.arrive_and_wait();
    {
      std::lock_guard lock(mutex_);
      total_.clear();
    }
    barrier_.arrive_and_wait();  // nobody adds to the next total before this one is gone
  }

 private:
  int size_;
  std::barrier<> barrier_;
  std::mutex mutex_;
  Values total_;
};

/// Boxes given by hand; combines over `ranks` if there are any.
class FakeView : public LaunchView {
 public:
  std::vector<ShardBox> inputs;
  std::vector<ShardBox> outputs;
  Ranks* ranks = nullptr;

  const ShardBox& input_box(int i) const override { return inputs.at(i); }
  const ShardBox& output_box(int i) const override { return outputs.at(i); }
  void combine_over(int, int, CombineKind kind, DenseTensor* values) const override {
    if (ranks) ranks->combine(kind, values);
  }
};

inline ShardBox whole(const Dims& dims) { return {dims, Box::whole(dims)}; }

inline double sum_of(const Values& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum;
}
inline double mean_of(const Values& values) {
  return sum_of(values) / static_cast<double>(values.size());
}

/// The part [begin, end) of tensor dim `axis`.
inline ShardBox part(const Dims& dims, int axis, int64_t begin, int64_t end) {
  ShardBox box = whole(dims);
  box.box.offset[axis] = begin;
  box.box.size[axis] = end - begin;
  return box;
}

/// Elements [begin, end) along `axis`, as the rank that owns that part would hold them.
inline Values cut(const Values& values, const Dims& dims, int axis, int64_t begin, int64_t end) {
  const int64_t inner = dims.numel(axis + 1, dims.ndim());
  Values out;
  for (int64_t outer = 0; outer < dims.numel(0, axis); ++outer) {
    const auto row = values.begin() + outer * dims[axis] * inner;
    out.insert(out.end(), row + begin * inner, row + end * inner);
  }
  return out;
}

inline Dims with_extent(Dims dims, int axis, int64_t extent) {
  dims[axis] = extent;
  return dims;
}

}  // namespace phi::testing
