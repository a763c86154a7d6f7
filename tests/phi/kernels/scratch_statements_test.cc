// The scratch memory that kernels state from metadata is what they allocate.
#include <gtest/gtest.h>
#include <omp.h>

#include <random>
#include <thread>
#include <vector>

#include "phi/core/device/scratch_context.h"
#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/kernels/cpu/matmul/gemm_scratch.h"

namespace phi {
namespace {

#if defined(__SANITIZE_ADDRESS__)
constexpr bool kKeepsBlocks = false;
#else
constexpr bool kKeepsBlocks = true;
#endif

int64_t draw(std::mt19937& random, int64_t least, int64_t most) {
  return std::uniform_int_distribution<int64_t>(least, most)(random);
}

/// Bytes that `work` obtains from the system on a new thread, whose workspaces are empty, and on
/// threads that it starts.
template <typename Work>
int64_t obtained(const Work& work) {
  BlockCache& of_others = RankContext::current().memory()->blocks();  // of threads without a rank
  of_others.release();
  of_others.reset_peak();
  const int64_t before = of_others.stats().reserved;
  int64_t own = 0;
  std::thread([&] {
    RankContext rank;
    const RankContext::Scope scope(rank);
    work();
    own = rank.memory()->stats(DeviceKind::CPU).peak_reserved;
  }).join();
  return own + of_others.stats().peak_reserved - before;
}

/// Bytes of scratch memory that `statements` plan.
template <typename Statements>
int64_t stated(const Statements& statements) {
  RankContext rank(0, 1, Execution::kDry);
  const RankContext::Scope scope(rank);
  MemoryLedger ledger(*rank.memory());
  statements(&ledger.scratch());
  return ledger.reserved();
}

void expect_equal(int64_t stated, int64_t obtained) {
  EXPECT_GE(stated, obtained);
  if (kKeepsBlocks) {
    EXPECT_EQ(stated, obtained);
  }
}

std::vector<GemmIsa> isas() {
  std::vector<GemmIsa> all;
  for (int i = 0; i <= static_cast<int>(bf16_tiles::best_isa()); ++i)
    all.push_back(static_cast<GemmIsa>(i));
  return all;
}

/// Skinny, small and large matmuls.
std::vector<GemmShape> random_shapes(std::mt19937& random) {
  std::vector<GemmShape> shapes;
  for (int i = 0; i < 6; ++i) {
    const int64_t most = i % 2 == 0 ? 40 : 700;
    shapes.push_back({.m = draw(random, i == 5 ? 0 : 1, most),
                      .n = draw(random, 1, most),
                      .k = draw(random, 1, 2 * most),
                      .trans_a = draw(random, 0, 1) == 1,
                      .trans_b = draw(random, 0, 1) == 1});
  }
  shapes.push_back({.m = 1, .n = 900, .k = draw(random, 1, 900)});
  return shapes;
}

template <typename T, typename Out>
void run_gemm(const GemmShape& s, GemmIsa isa) {
  const std::vector<T> a(static_cast<size_t>(s.m * s.k)), b(static_cast<size_t>(s.k * s.n));
  std::vector<Out> c(static_cast<size_t>(s.m * s.n));
  gemm<T>(s, 1.0f, a.data(), s.trans_a ? s.m : s.k, b.data(), s.trans_b ? s.k : s.n, 0.0f, c.data(),
          s.n, isa);
}

/// A sequence of matmuls, whose workspaces grow.
template <typename T, typename Out>
void check_gemms(const std::vector<GemmShape>& shapes, GemmIsa isa, int threads) {
  const int before = omp_get_max_threads();
  omp_set_num_threads(threads);
  const int64_t planned = stated([&](PlannedScratch* scratch) {
    for (const GemmShape& s : shapes) plan_gemm_scratch<T, Out>(s, scratch, isa);
  });
  omp_set_num_threads(before);
  const int64_t real = obtained([&] {
    omp_set_num_threads(threads);  // of the calling thread
    for (const GemmShape& s : shapes) run_gemm<T, Out>(s, isa);
  });
  if (threads == 1) {
    expect_equal(planned, real);
  } else {
    EXPECT_GE(planned, real);  // threads may not have their blocks at the same time
  }
}

class ScratchOfGemms : public ::testing::TestWithParam<int> {};

TEST_P(ScratchOfGemms, IsWhatIsStated) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  for (const int threads : {1, 3}) {
    for (const GemmIsa isa : isas()) {
      SCOPED_TRACE(testing::Message() << "isa " << static_cast<int>(isa) << " threads " << threads);
      const std::vector<GemmShape> shapes = random_shapes(random);
      check_gemms<bfloat16, bfloat16>(shapes, isa, threads);
      check_gemms<bfloat16, float>(shapes, isa, threads);
    }
    const std::vector<GemmShape> shapes = random_shapes(random);
    check_gemms<float16, float16>(shapes, GemmIsa::kWiden, threads);
    check_gemms<float16, float>(shapes, GemmIsa::kWiden, threads);
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, ScratchOfGemms, ::testing::Range(0, 6));

DenseTensor zeros(const Dims& dims, DataType dtype) {
  DenseTensor out = DenseTensor::empty({dims, dtype}, CPUPlace());
  std::fill_n(static_cast<std::byte*>(out.mutable_raw_data()), out.nbytes(), std::byte(0));
  return out;
}

/// Compares a kernel with its statement, for these arguments.
template <typename Name, typename T, typename... Args>
void check_kernel(Args... args) {
  const auto statement = reinterpret_cast<typename Name::Signature::Function>(
      Kernel::named(Name::kName).find_scratch(dtype_of<T>()));
  ASSERT_NE(statement, nullptr);
  const int64_t planned =
      stated([&](PlannedScratch*) { statement(KernelContext(), std::forward<Args>(args)...); });
  expect_equal(planned, obtained([&] {
                 omp_set_num_threads(1);
                 registered<Name, T>(KernelContext(), std::forward<Args>(args)...);
               }));
}

template <typename T>
void check_matmuls(std::mt19937& random, int64_t most) {
  const bool trans_x = draw(random, 0, 1) == 1, trans_y = draw(random, 0, 1) == 1;
  const int64_t batch = draw(random, 1, 3), y_batch = draw(random, 0, 1) == 0 ? 1 : batch;
  const int64_t m = draw(random, 1, most), n = draw(random, 1, most), k = draw(random, 1, most);
  constexpr DataType kType = dtype_of<T>();
  const DenseTensor x = zeros(trans_x ? Dims{batch, k, m} : Dims{batch, m, k}, kType);
  const DenseTensor y = zeros(trans_y ? Dims{y_batch, n, k} : Dims{y_batch, k, n}, kType);
  DenseTensor out = zeros({batch, m, n}, kType);
  DenseTensor x_grad = zeros(x.dims(), kType), y_grad = zeros(y.dims(), kType);
  check_kernel<kernels::matmul, T, const DenseTensor&, const DenseTensor&, bool, bool,
               DenseTensor*>(x, y, trans_x, trans_y, &out);
  for (const bool wants_x : {false, true}) {
    check_kernel<kernels::matmul_grad, T, const DenseTensor&, const DenseTensor&,
                 const DenseTensor&, bool, bool, DenseTensor*, DenseTensor*>(
        x, y, out, trans_x, trans_y, wants_x ? &x_grad : nullptr, &y_grad);
  }
}

TEST(ScratchOfMatmuls, IsWhatIsStated) {
  std::mt19937 random(7);
  for (const int64_t most : {4, 30, 300, 300}) {
    check_matmuls<bfloat16>(random, most);
    check_matmuls<float16>(random, most);
  }
}

template <typename T>
void check_attention(std::mt19937& random) {
  const int64_t batch = draw(random, 1, 2), heads = 2 * draw(random, 1, 2);
  const int64_t sq = draw(random, 1, 150), sk = draw(random, 1, 600);
  const int64_t width = draw(random, 1, 80), value_width = draw(random, 1, 300);
  const bool causal = draw(random, 0, 1) == 1;
  constexpr DataType kType = dtype_of<T>(), kNumbers = dtype_of<accumulator_t<T>>();
  const DenseTensor q = zeros({batch, sq, heads, width}, kType);
  const DenseTensor k = zeros({batch, sk, 2, width}, kType);
  const DenseTensor v = zeros({batch, sk, 2, value_width}, kType);
  DenseTensor out = zeros({batch, sq, heads, value_width}, kType);
  DenseTensor lse = zeros({batch, heads, sq}, kNumbers);
  check_kernel<kernels::flash_attention, T, const DenseTensor&, const DenseTensor&,
               const DenseTensor&, const DenseTensor*, const DenseTensor*, float, bool, bool, bool,
               DenseTensor*, DenseTensor*, DenseTensor*, DenseTensor*>(
      q, k, v, nullptr, nullptr, 0.0f, causal, false, true, &out, nullptr, &lse, nullptr);
  DenseTensor q_grad = zeros(q.dims(), kType), k_grad = zeros(k.dims(), kType);
  DenseTensor v_grad = zeros(v.dims(), kType);
  const int64_t unwanted = draw(random, 0, 3);
  check_kernel<kernels::flash_attention_grad, T, const DenseTensor&, const DenseTensor&,
               const DenseTensor&, const DenseTensor&, const DenseTensor&, const DenseTensor*,
               const DenseTensor*, const DenseTensor&, float, bool, bool, DenseTensor*,
               DenseTensor*, DenseTensor*>(q, k, v, out, lse, nullptr, nullptr, out, 0.0f, causal,
                                           true, unwanted == 0 ? nullptr : &q_grad,
                                           unwanted == 1 ? nullptr : &k_grad,
                                           unwanted == 2 ? nullptr : &v_grad);
}

TEST(ScratchOfAttention, IsWhatIsStated) {
  std::mt19937 random(3);
  for (int i = 0; i < 8; ++i) {
    SCOPED_TRACE(i);
    check_attention<bfloat16>(random);
    check_attention<float16>(random);
    check_attention<double>(random);
  }
}

TEST(PlannedScratch, KeepsTheLargestBlockOfAWorkspaceAndThread) {
  const auto blocks = [](std::vector<size_t> requests) {
    int64_t total = 0;
    for (const size_t each : requests)
      total += static_cast<int64_t>(SizeClass::of(each + kScratchHeader).nbytes);
    return total;
  };
  EXPECT_EQ(stated([](PlannedScratch* scratch) {
              scratch->keep("a", 0, 1000);
              scratch->keep("a", 0, 500);
              scratch->keep("a", 1, 1000);
              scratch->keep("b", 0, 1000);
            }),
            blocks({1000, 1000, 1000}));
  EXPECT_EQ(stated([](PlannedScratch* scratch) {  // the block of 1000 bytes stays in the cache
              scratch->keep("a", 0, 1000);
              scratch->keep("a", 0, 9000);
              const PlannedScratch::Block other(*scratch, 1000), none(*scratch, 0);
            }),
            blocks({1000, 9000}));
}

}  // namespace
}  // namespace phi
