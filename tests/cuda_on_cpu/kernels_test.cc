// Right kernels give the values of plain loops in each order of warps, lanes and blocks.
#include "cuda_on_cpu/kernels.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <numeric>

#include "cuda_on_cpu/session.h"

namespace cuda_on_cpu_test {
namespace {

using cuda_on_cpu::Order;

struct Case {
  Order order;
  uint64_t seed;
};

class Kernels : public ::testing::TestWithParam<Case> {
 protected:
  Kernels() { cuda_on_cpu::set_order(GetParam().order, GetParam().seed); }
  Session gpu;
};

INSTANTIATE_TEST_SUITE_P(Orders, Kernels,
                         ::testing::Values(Case{Order::kForward, 0}, Case{Order::kBackward, 0},
                                           Case{Order::kDrawn, 1}, Case{Order::kDrawn, 2},
                                           Case{Order::kDrawn, 3}));

TEST_P(Kernels, Softmax) {
  const int rows = 7;
  const int width = 300;
  const auto x = some_floats(rows * width);
  float* y = gpu.allocate<float>(x.size());
  EXPECT_WORKS(softmax_rows(gpu.stream, gpu.upload(x), y, rows, width));
  const auto result = gpu.download(y, x.size());
  for (int row = 0; row < rows; ++row) {
    double sum = 0;
    for (int i = 0; i < width; ++i) sum += std::exp(static_cast<double>(x[row * width + i]));
    for (int i = row * width; i < (row + 1) * width; ++i) {
      ASSERT_NEAR(result[i], std::exp(static_cast<double>(x[i])) / sum, 1e-8);
    }
  }
}

TEST_P(Kernels, SumsOfBlocks) {
  const int blocks = 5;
  std::vector<int> x(4 * 256 + 100);
  std::iota(x.begin(), x.end(), -300);
  int* sums = gpu.allocate<int>(blocks);
  EXPECT_WORKS(block_sums(gpu.stream, gpu.upload(x), static_cast<int>(x.size()), blocks, sums));
  const auto result = gpu.download(sums, blocks);
  for (int block = 0; block < blocks; ++block) {
    const auto begin = x.begin() + block * 256;
    const auto end = block == blocks - 1 ? x.end() : begin + 256;
    EXPECT_EQ(result[block], std::accumulate(begin, end, 0));
  }
}

template <class T>
void check_product(Session& gpu) {
  const int m = 32;
  const int n = 48;
  const int k = 64;
  const auto values = some_floats(m * k + k * n);
  const std::vector<T> a(values.begin(), values.begin() + m * k);
  const std::vector<T> b(values.begin() + m * k, values.end());
  float* c = gpu.allocate<float>(m * n);
  EXPECT_WORKS(product(gpu.stream, gpu.upload(a), gpu.upload(b), c, m, n, k, 0.5f));
  const auto result = gpu.download(c, m * n);
  for (int row = 0; row < m; ++row) {
    for (int column = 0; column < n; ++column) {
      double sum = 0;
      for (int i = 0; i < k; ++i) {
        sum += static_cast<double>(static_cast<float>(a[row * k + i])) *
               static_cast<float>(b[i * n + column]);
      }
      ASSERT_NEAR(result[row * n + column], 0.5 * sum, 1e-5) << row << " " << column;
    }
  }
}

TEST_P(Kernels, ProductOfHalves) { check_product<__half>(gpu); }
TEST_P(Kernels, ProductOfBfloat16) { check_product<__nv_bfloat16>(gpu); }

TEST_P(Kernels, CopyBy16Bytes) {
  const auto x = some_floats(4 * 700);
  float* y = gpu.allocate<float>(x.size());
  EXPECT_WORKS(copy_by_16(gpu.stream, gpu.upload(x), y, static_cast<int>(x.size())));
  EXPECT_EQ(gpu.download(y, x.size()), x);
}

TEST_P(Kernels, Histogram) {
  const unsigned kinds = 10;
  std::vector<unsigned> x(5000);
  for (size_t i = 0; i < x.size(); ++i) x[i] = static_cast<unsigned>(i * i % kinds);
  std::vector<unsigned> expected(kinds);
  for (const unsigned value : x) ++expected[value];
  unsigned* counts = gpu.upload(std::vector<unsigned>(kinds));
  unsigned* largest = gpu.upload(std::vector<unsigned>(1));
  EXPECT_WORKS(histogram(gpu.stream, gpu.upload(x), static_cast<int>(x.size()), counts, largest));
  EXPECT_EQ(gpu.download(counts, kinds), expected);
  EXPECT_EQ(gpu.download(largest, 1)[0], 9u);
}

TEST_P(Kernels, Votes) {
  const int threads = 96;
  std::vector<int> x(threads);
  for (int i = 0; i < threads; ++i) x[i] = i * i / 3;
  int* out = gpu.allocate<int>(4 * threads);
  EXPECT_WORKS(votes(gpu.stream, gpu.upload(x), threads, out));
  const auto result = gpu.download(out, 4 * threads);
  const auto odd = std::count_if(x.begin(), x.end(), [](int value) { return value % 2 == 1; });
  for (int i = 0; i < threads; ++i) {
    unsigned ballot = 0;
    for (int lane = 0; lane < 32; ++lane) {
      ballot |= static_cast<unsigned>(x[i / 32 * 32 + lane] & 1) << lane;
    }
    EXPECT_EQ(result[4 * i], odd);
    EXPECT_EQ(result[4 * i + 1], 1);
    EXPECT_EQ(result[4 * i + 2], 0);
    EXPECT_EQ(static_cast<unsigned>(result[4 * i + 3]), ballot);
  }
}

TEST_P(Kernels, Shuffles) {
  const int threads = 64;
  std::vector<double> x(threads);
  std::iota(x.begin(), x.end(), 0.25);
  double* y = gpu.allocate<double>(4 * threads);
  EXPECT_WORKS(shuffles(gpu.stream, gpu.upload(x), y, threads));
  const auto result = gpu.download(y, 4 * threads);
  for (int i = 0; i < threads; ++i) {
    EXPECT_EQ(result[4 * i], x[i % 32 == 0 ? i : i - 1]);
    EXPECT_EQ(result[4 * i + 1], x[i % 32 == 31 ? i : i + 1]);
    EXPECT_EQ(result[4 * i + 2], x[i / 8 * 8 + 3]);
    EXPECT_EQ(result[4 * i + 3], x[i / 32 * 32 + 31 - i % 32]);
  }
}

TEST_P(Kernels, NumbersOfThreads) {
  const dim3 grid(3, 2, 2);
  const dim3 block(5, 3, 2);
  const size_t n = 12 * 30;
  int* y = gpu.allocate<int>(n);
  EXPECT_WORKS(numbers(gpu.stream, grid, block, y));
  std::vector<int> expected(n);
  std::iota(expected.begin(), expected.end(), 0);
  EXPECT_EQ(gpu.download(y, n), expected);
}

}  // namespace
}  // namespace cuda_on_cpu_test
