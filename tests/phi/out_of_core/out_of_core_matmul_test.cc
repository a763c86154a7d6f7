// Products by blocks against the product in memory: sizes, limits, layouts, tiers, dtypes; faults.
//
// Entries are small whole numbers, so that every sum is exact in any order and results must be
// equal to the last bit; bfloat16 results are rounded once from exact sums.
#include "phi/out_of_core/out_of_core_matmul.h"

#include <gtest/gtest.h>

#include <cerrno>
#include <cmath>
#include <random>

#include "tests/phi/memory/io/faulty_engine.h"
#include "tests/phi/memory/scratch_folder.h"
#include "tests/phi/out_of_core/placed_matrix.h"
#include "tests/support/error_matchers.h"

namespace phi::memory {
namespace {

template <typename T>
std::vector<T> whole_numbers(int64_t n, unsigned seed) {
  std::mt19937 engine(seed);
  std::vector<T> out(static_cast<size_t>(n));
  for (T& x : out) x = T(static_cast<float>(static_cast<int>(engine() % 9) - 4));
  return out;
}

struct Product {
  int64_t m, n, k;
  bool trans_a = false, trans_b = false, trans_c = false;
};

/// By the definition, in double; stored as p says.
template <typename T>
std::vector<T> product_of(const Product& p, const std::vector<T>& a, const std::vector<T>& b) {
  std::vector<T> c(static_cast<size_t>(p.m * p.n));
  for (int64_t i = 0; i < p.m; ++i) {
    for (int64_t j = 0; j < p.n; ++j) {
      double sum = 0;
      for (int64_t q = 0; q < p.k; ++q) {
        sum += static_cast<double>(a[p.trans_a ? q * p.m + i : i * p.k + q]) *
               static_cast<double>(b[p.trans_b ? j * p.k + q : q * p.n + j]);
      }
      c[p.trans_c ? j * p.m + i : i * p.n + j] = T(sum);
    }
  }
  return c;
}

template <typename T>
struct Trial {
  Trial(const Product& p, const Placing& a, const Placing& b, const Placing& c,
        const ScratchFolder& folder, unsigned seed = 1)
      : left(whole_numbers<T>(p.m * p.k, seed)),
        right(whole_numbers<T>(p.k * p.n, seed + 1)),
        expected(product_of(p, left, right)),
        a_matrix(a, folder.path(), p.trans_a ? p.k : p.m, p.trans_a ? p.m : p.k, left),
        b_matrix(b, folder.path(), p.trans_b ? p.n : p.k, p.trans_b ? p.k : p.n, right),
        c_matrix(c, folder.path(), p.trans_c ? p.n : p.m, p.trans_c ? p.m : p.n,
                 std::vector<T>(static_cast<size_t>(p.m * p.n))),
        arrays{a_matrix.array(), b_matrix.array(), c_matrix.array(),
               p.trans_a,        p.trans_b,        p.trans_c} {}

  OutOfCoreStats run(int64_t limit) { return out_of_core_matmul(arrays, {.limit = limit}); }
  bool right_result() { return c_matrix.holds(expected); }

  std::vector<T> left, right, expected;
  PlacedMatrix<T> a_matrix, b_matrix, c_matrix;
  MatmulArrays arrays;
};

class AnyProduct {
 public:
  explicit AnyProduct(unsigned seed) : engine_(seed) {}

  int64_t pick(std::vector<int64_t> from) { return from[engine_() % from.size()]; }
  Placing placing(const std::string& path) {
    const Tier tier = static_cast<Tier>(pick({0, 1, 2, 2, 2}));
    return {tier, pick({0, 1}) ? path : "", pick({0, 0, 1, 13, 2000}), pick({0, 0, 1, 1024}),
            make_io_engine(pick({0, 1}) ? IoEngineKind::kBest : IoEngineKind::kThreadPool)};
  }
  template <typename T>
  void check(const ScratchFolder& folder) {
    const Product p{extent(), extent(), extent(), flag(), flag(), flag()};
    Trial<T> trial(p, placing(folder.file("a")), placing(folder.file("b")),
                   placing(folder.file("c")), folder, static_cast<unsigned>(engine_()));
    int64_t given = least_device_bytes(trial.arrays) + pick({0, 5000, 40000, 300000, 3000000});
    // In its smallest blocks a larger product would take a test's time.
    while (plan_blocks(trial.arrays, given, {}).seconds > 0.05) given += given / 2;
    const OutOfCoreStats stats = trial.run(given);
    EXPECT_LE(stats.device_bytes, given);
    EXPECT_EQ(stats.device_bytes, stats.blocks.device_bytes);
    EXPECT_TRUE(trial.right_result())
        << p.m << "x" << p.n << "x" << p.k << (p.trans_a ? " T" : " N") << (p.trans_b ? "T" : "N")
        << (p.trans_c ? "T" : "N") << " within " << given << ", tiers "
        << name_of(trial.arrays.a.tier) << " " << name_of(trial.arrays.b.tier) << " "
        << name_of(trial.arrays.c.tier) << ", strides " << trial.arrays.a.row_stride << " "
        << trial.arrays.b.row_stride << " " << trial.arrays.c.row_stride << ", blocks "
        << stats.blocks.m << "x" << stats.blocks.n << "x" << stats.blocks.k;
  }

 private:
  bool flag() { return pick({0, 1}) == 1; }
  int64_t extent() { return pick({1, 2, 3, 7, 31, 64, 65, 97, 130, 257}); }
  std::mt19937 engine_;
};

template <typename T>
class OutOfCoreMatmulTest : public ::testing::Test {
 protected:
  ScratchFolder folder_;
};
using Types = ::testing::Types<float, double, bfloat16>;
TYPED_TEST_SUITE(OutOfCoreMatmulTest, Types);

TYPED_TEST(OutOfCoreMatmulTest, AnySizesLimitsTiersAndLayoutsGiveTheProduct) {
  AnyProduct any(size_of(dtype_of<TypeParam>()));
  for (int trial = 0; trial < 40; ++trial) {
    SCOPED_TRACE(trial);
    any.check<TypeParam>(this->folder_);
    if (this->HasFailure()) return;
  }
}

TYPED_TEST(OutOfCoreMatmulTest, TheSmallestBlocksGiveTheProduct) {
  const Placing disk{Tier::kDisk, "", 1500, 7, nullptr};
  for (const bool trans : {false, true}) {
    Trial<TypeParam> trial({5, 6, 4, trans, !trans}, disk, disk, disk, this->folder_);
    const int64_t least = least_device_bytes(trial.arrays);
    EXPECT_EQ(trial.run(least).device_bytes, least);
    EXPECT_TRUE(trial.right_result());
    EXPECT_THAT([&] { trial.run(least - 1); },
                ThrowsError(ErrorCode::kResourceExhausted, std::to_string(least)));
  }
}

TYPED_TEST(OutOfCoreMatmulTest, LargerProductsSplitEveryExtent) {
  const Placing disk{Tier::kDisk, "", 0, 0, nullptr};
  for (const auto& [ta, tb] :
       {std::pair{false, false}, {true, false}, {false, true}, {true, true}}) {
    Trial<TypeParam> trial({200, 150, 260, ta, tb}, disk, disk, disk, this->folder_);
    const OutOfCoreStats stats = trial.run(150 << 10);
    EXPECT_GT(stats.products, 8);
    EXPECT_LE(stats.device_bytes, 150 << 10);
    EXPECT_TRUE(trial.right_result()) << ta << tb;
  }
}

TYPED_TEST(OutOfCoreMatmulTest, EmptyExtents) {
  const Placing disk{Tier::kDisk, "", 0, 0, nullptr}, host{Tier::kHost, "", 3, 0, nullptr};
  for (const Product& p : {Product{0, 3, 4}, {3, 0, 4}, {3, 4, 0}, {0, 0, 0}}) {
    for (const Placing& c : {disk, host}) {
      Trial<TypeParam> trial(p, disk, host, c, this->folder_);
      trial.run(1 << 20);
      EXPECT_TRUE(trial.right_result()) << p.m << p.n << p.k;  // a sum of nothing is 0
    }
  }
}

TEST(OutOfCoreMatmul, ResultsDoNotDependOnTheEngine) {
  const ScratchFolder folder;
  const int64_t m = 150, n = 100, k = 250;
  std::mt19937 engine(4);
  std::normal_distribution<float> draw;
  std::vector<float> a(m * k), b(k * n);
  for (auto* values : {&a, &b}) {
    for (float& x : *values) x = draw(engine);
  }
  std::vector<std::vector<float>> results;
  for (const auto& io :
       {make_io_engine(), make_thread_pool_engine(1),
        std::static_pointer_cast<IoEngine>(std::make_shared<FaultyEngine>(no_fault))}) {
    const Placing disk{Tier::kDisk, "", 0, 0, io};
    const PlacedMatrix<float> left(disk, folder.path(), m, k, a),
        right(disk, folder.path(), k, n, b);
    const PlacedMatrix<float> out(disk, folder.path(), m, n, std::vector<float>(m * n));
    out_of_core_matmul({left.array(), right.array(), out.array()}, {.limit = 150 << 10});
    results.push_back(out.values());
  }
  EXPECT_EQ(results[1], results[0]);
  EXPECT_EQ(results[2], results[0]);
  const std::vector<float> expected = product_of(Product{m, n, k}, a, b);
  for (size_t i = 0; i < expected.size(); ++i) {
    ASSERT_NEAR(results[0][i], expected[i], 1e-4 * std::sqrt(k)) << i;
  }
}

TEST(OutOfCoreMatmul, WhatIsResidentIsNotMoved) {
  const ScratchFolder folder;
  const Placing here{Tier::kDevice, "", 5, 0, nullptr};
  Trial<float> trial({100, 90, 80}, here, here, here, folder);
  reset_transfer_stats();
  const OutOfCoreStats stats = trial.run(0);
  EXPECT_EQ(stats.device_bytes + stats.bytes_read + stats.bytes_written, 0);
  EXPECT_TRUE(trial.right_result());
}

TEST(OutOfCoreMatmul, TransfersAreCountedAndWhatFitsIsReadOnce) {
  const ScratchFolder folder;
  const Placing disk{Tier::kDisk, "", 0, 0, nullptr}, host{Tier::kHost, "", 0, 0, nullptr};
  Trial<float> trial({2048, 64, 1024}, disk, host, disk, folder);  // a is 8 MiB, b 256 KiB
  reset_transfer_stats();
  const OutOfCoreStats stats = trial.run(2 << 20);
  EXPECT_TRUE(trial.right_result());
  const TransferStats moved = transfer_stats();
  EXPECT_EQ(moved.of(Tier::kDisk, Tier::kDevice).bytes, 8 << 20);
  EXPECT_EQ(moved.of(Tier::kHost, Tier::kDevice).bytes, 256 << 10);
  EXPECT_EQ(moved.of(Tier::kDevice, Tier::kDisk).bytes, 2048 * 64 * 4);
  EXPECT_EQ(stats.bytes_read, (8 << 20) + (256 << 10));
  EXPECT_EQ(stats.bytes_written, 2048 * 64 * 4);
}

TEST(OutOfCoreMatmul, WrongArraysAreNamed) {
  const ScratchFolder folder;
  const Placing disk{Tier::kDisk, "", 0, 0, nullptr}, here{Tier::kDevice, "", 0, 0, nullptr};
  Trial<float> trial({4, 5, 6}, disk, here, here, folder);
  const auto run = [&](const auto& change) {
    MatmulArrays arrays = trial.arrays;
    change(&arrays);
    out_of_core_matmul(arrays, {.limit = 1 << 20});
  };
  EXPECT_THAT([&] { run([](MatmulArrays* x) { x->trans_a = true; }); },
              ThrowsError(ErrorCode::kInvalidArgument, "op(a) is [6, 4], op(b) is [6, 5]"));
  EXPECT_THAT([&] { run([](MatmulArrays* x) { x->b.dtype = DataType::FLOAT64; }); },
              ThrowsError(ErrorCode::kInvalidArgument, "b is float64, c is float32"));
  EXPECT_THAT([&] { run([](MatmulArrays* x) { x->a.offset = 1020; }); },
              ThrowsError(ErrorCode::kInvalidArgument, "a ends at byte 4176"));
  EXPECT_THAT([&] { run([](MatmulArrays* x) { x->c.row_stride = 2; }); },
              ThrowsError(ErrorCode::kInvalidArgument, "rows must not overlap"));
  EXPECT_THAT([&] { run([](MatmulArrays* x) { x->a.pages = nullptr; }); },
              ThrowsError(ErrorCode::kInvalidArgument, "has no pages"));
  EXPECT_THAT(
      [&] { run([](MatmulArrays* x) { x->a.dtype = x->b.dtype = x->c.dtype = DataType::INT32; }); },
      ThrowsError(ErrorCode::kInvalidArgument, "c is int32"));
}

/// Faults begin when the test says so, after the operands are written.
struct Switch {
  std::shared_ptr<std::atomic<int64_t>> healthy =
      std::make_shared<std::atomic<int64_t>>(int64_t{1} << 40);
  std::shared_ptr<IoEngine> engine(int64_t result) const {
    return std::make_shared<FaultyEngine>([left = healthy, result](int64_t, size_t nbytes) {
      return (*left)-- > 0 ? static_cast<int64_t>(nbytes) : result;
    });
  }
};

TEST(OutOfCoreMatmul, FaultsOfTheDiskSurface) {
  const ScratchFolder folder;
  const Placing healthy{Tier::kDisk, "", 0, 0, nullptr};
  for (const int64_t good : {0, 3}) {
    const Switch reads, writes, ends;
    const auto on = [&](const std::string& name, const std::shared_ptr<IoEngine>& engine) {
      return Placing{Tier::kDisk, folder.file(name), 0, 0, engine};
    };
    const Product p{200, 160, 300};
    Trial<float> bad_a(p, on("a", reads.engine(-EIO)), healthy, healthy, folder);
    *reads.healthy = good;
    EXPECT_THAT([&] { bad_a.run(100 << 10); },
                ThrowsError(ErrorCode::kUnavailable, folder.file("a")));
    Trial<float> bad_b(p, healthy, on("b", ends.engine(0)), healthy, folder);
    *ends.healthy = good;
    EXPECT_THAT([&] { bad_b.run(100 << 10); }, ThrowsError(ErrorCode::kUnavailable, "ended after"));
    Trial<float> bad_c(p, healthy, healthy, on("c", writes.engine(-ENOSPC)), folder);
    *writes.healthy = good;
    EXPECT_THAT([&] { bad_c.run(100 << 10); },
                ThrowsError(ErrorCode::kResourceExhausted, "No space left on device"));
  }
}

}  // namespace
}  // namespace phi::memory
