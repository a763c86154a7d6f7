// Collectives of the stand-in of NCCL: every type and operation against a plain loop, places in
// buffers, and sums that promise no more than NCCL's do.
#include <set>

#include "cuda_on_cpu/nccl_ranks.h"

namespace cuda_on_cpu_test {
namespace {

template <class T>
constexpr ncclDataType_t kType = ncclNumTypes;
template <>
constexpr ncclDataType_t kType<int8_t> = ncclInt8;
template <>
constexpr ncclDataType_t kType<uint8_t> = ncclUint8;
template <>
constexpr ncclDataType_t kType<int32_t> = ncclInt32;
template <>
constexpr ncclDataType_t kType<uint32_t> = ncclUint32;
template <>
constexpr ncclDataType_t kType<int64_t> = ncclInt64;
template <>
constexpr ncclDataType_t kType<uint64_t> = ncclUint64;
template <>
constexpr ncclDataType_t kType<__half> = ncclFloat16;
template <>
constexpr ncclDataType_t kType<float> = ncclFloat32;
template <>
constexpr ncclDataType_t kType<double> = ncclFloat64;
template <>
constexpr ncclDataType_t kType<__nv_bfloat16> = ncclBfloat16;
template <>
constexpr ncclDataType_t kType<__nv_fp8_e4m3> = ncclFloat8e4m3;
template <>
constexpr ncclDataType_t kType<__nv_fp8_e5m2> = ncclFloat8e5m2;

constexpr int kRanks = 4;
constexpr size_t kCount = 6;  // not a multiple of the ranks

// 2 or 4: whatever is done with those of four ranks, 8-bit floats hold it exactly.
int value(int rank, size_t i) { return 2 << ((static_cast<size_t>(rank) * 3 + i * i) % 5 / 2 % 2); }

double expected(size_t i, ncclRedOp_t op) {
  double sum = 0;
  double product = 1;
  double most = 0;
  double least = 100;
  for (int rank = 0; rank < kRanks; ++rank) {
    const double x = value(rank, i);
    sum += x;
    product *= x;
    most = std::max(most, x);
    least = std::min(least, x);
  }
  const double all[] = {sum, product, most, least, sum / kRanks};
  return all[op];
}

// As type T holds it: integers wrap round and averages lose their fraction.
template <class T>
double held(double x) {
  if constexpr (std::is_integral_v<T>) {
    return static_cast<double>(static_cast<T>(static_cast<uint64_t>(x)));
  } else {
    return x;
  }
}

template <class T>
double number(T x) {
  if constexpr (std::is_arithmetic_v<T>) return static_cast<double>(x);
  if constexpr (!std::is_arithmetic_v<T>) return static_cast<float>(x);
}

template <class T>
class NcclTypes : public ::testing::Test {
 protected:
  // What rank `rank` gives of n elements.
  static std::vector<T> given(int rank, size_t n) {
    std::vector<T> x;
    for (size_t i = 0; i < n; ++i) x.push_back(static_cast<T>(static_cast<float>(value(rank, i))));
    return x;
  }
};
using Types = ::testing::Types<int8_t, uint8_t, int32_t, uint32_t, int64_t, uint64_t, __half, float,
                               double, __nv_bfloat16, __nv_fp8_e4m3, __nv_fp8_e5m2>;
TYPED_TEST_SUITE(NcclTypes, Types);

TYPED_TEST(NcclTypes, Reductions) {
  using T = TypeParam;
  on_ranks(kRanks, [](Rank& r) {
    for (const ncclRedOp_t op : {ncclSum, ncclProd, ncclMax, ncclMin, ncclAvg}) {
      const size_t n = kCount * kRanks;
      T* x = r.gpu.upload(TestFixture::given(r.rank, n));
      T* all = r.gpu.allocate<T>(n);
      T* part = r.gpu.allocate<T>(kCount);
      EXPECT_DONE(ncclAllReduce(x, all, n, kType<T>, op, r.comm, r.stream));
      EXPECT_DONE(ncclReduceScatter(x, part, kCount, kType<T>, op, r.comm, r.stream));
      const auto of_all = r.gpu.download(all, n);
      const auto of_part = r.gpu.download(part, kCount);
      const size_t begin = static_cast<size_t>(r.rank) * kCount;
      for (size_t i = 0; i < n; ++i) {
        EXPECT_EQ(number(of_all[i]), held<T>(expected(i, op))) << "op " << op << ", element " << i;
      }
      for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(number(of_part[i]), number(of_all[begin + i]));
    }
    return false;
  });
}

TYPED_TEST(NcclTypes, Copies) {
  using T = TypeParam;
  on_ranks(kRanks, [](Rank& r) {
    T* x = r.gpu.upload(TestFixture::given(r.rank, kCount));
    T* gathered = r.gpu.allocate<T>(kCount * kRanks);
    T* of_root = r.gpu.allocate<T>(kCount);
    EXPECT_DONE(ncclAllGather(x, gathered, kCount, kType<T>, r.comm, r.stream));
    EXPECT_DONE(ncclBroadcast(x, of_root, kCount, kType<T>, 2, r.comm, r.stream));
    const auto all = r.gpu.download(gathered, kCount * kRanks);
    const auto root = r.gpu.download(of_root, kCount);
    for (size_t i = 0; i < all.size(); ++i) {
      EXPECT_EQ(number(all[i]), value(static_cast<int>(i / kCount), i % kCount));
    }
    for (size_t i = 0; i < kCount; ++i) EXPECT_EQ(number(root[i]), value(2, i));
    return false;
  });
}

TEST(NcclCollectives, SignsAndWrapping) {
  on_ranks(2, [](Rank& r) {
    int32_t* x = r.gpu.upload(std::vector<int32_t>{r.rank == 0 ? -7 : 2, 1 << 30, -5});
    int32_t* y = r.gpu.allocate<int32_t>(3);
    const auto all = [&](ncclRedOp_t op) {
      EXPECT_DONE(ncclAllReduce(x, y, 3, ncclInt32, op, r.comm, r.stream));
      return r.gpu.download(y, 3);
    };
    EXPECT_EQ(all(ncclSum), (std::vector<int32_t>{-5, INT32_MIN, -10}));
    EXPECT_EQ(all(ncclMax), (std::vector<int32_t>{2, 1 << 30, -5}));
    EXPECT_EQ(all(ncclMin), (std::vector<int32_t>{-7, 1 << 30, -5}));
    EXPECT_EQ(all(ncclAvg), (std::vector<int32_t>{-2, INT32_MIN / 2, -5}));
    return false;
  });
}

TEST(NcclCollectives, InPlace) {
  on_ranks(3, [](Rank& r) {
    const float own = static_cast<float>(r.rank + 1);
    float* x = r.filled(own, 3);
    EXPECT_DONE(ncclAllGather(x + r.rank, x, 1, ncclFloat32, r.comm, r.stream));
    EXPECT_EQ(r.gpu.download(x, 3), (std::vector<float>{1, 2, 3}));
    EXPECT_DONE(ncclAllReduce(x, x, 3, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_EQ(r.gpu.download(x, 3), (std::vector<float>{3, 6, 9}));
    EXPECT_DONE(ncclReduceScatter(x, x + r.rank, 1, ncclFloat32, ncclSum, r.comm, r.stream));
    EXPECT_EQ(r.gpu.download(x + r.rank, 1)[0], 9 * own);
    float* y = r.filled(own);
    EXPECT_DONE(ncclBroadcast(y, y, 1, ncclFloat32, 1, r.comm, r.stream));
    EXPECT_EQ(r.gpu.download(y, 1)[0], 2);
    return false;
  });
}

TEST(NcclCollectives, WithoutElementsTheyAreNothing) {
  on_ranks(2, [](Rank& r) {
    if (r.rank == 0) {
      EXPECT_DONE(ncclAllReduce(nullptr, nullptr, 0, ncclFloat32, ncclSum, r.comm, r.stream));
    }
    EXPECT_WORKS(cudaStreamQuery(r.stream));
    return false;
  });
}

// In order of positions all would be 256; in float, rounded once, 260.
TEST(NcclCollectives, SixteenBitSumsAreRoundedInAnOrderThatNobodyKnows) {
  on_ranks(4, [](Rank& r) {
    const __nv_bfloat16 own(r.rank == 0 ? 256.0f : 1.0f);
    __nv_bfloat16* x = r.gpu.upload(std::vector<__nv_bfloat16>(8, own));
    EXPECT_DONE(ncclAllReduce(x, x, 8, ncclBfloat16, ncclSum, r.comm, r.stream));
    std::set<float> sums;
    for (const __nv_bfloat16 sum : r.gpu.download(x, 8)) sums.insert(static_cast<float>(sum));
    EXPECT_EQ(sums, (std::set<float>{256, 260}));
    return false;
  });
}

}  // namespace
}  // namespace cuda_on_cpu_test
