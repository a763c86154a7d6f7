// The scratch memory of half-precision GEMMs is what is planned.
#include "phi/kernels/cpu/matmul/gemm_scratch.h"
#include "tests/phi/kernels/scratch/check_scratch.h"

namespace phi::testing {
namespace {

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
                      .trans_a = flip(random),
                      .trans_b = flip(random)});
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
  compare(
      threads,
      [&](PlannedScratch* scratch) {
        for (const GemmShape& s : shapes) plan_gemm_scratch<T, Out>(s, scratch, isa);
      },
      [&] {
        for (const GemmShape& s : shapes) run_gemm<T, Out>(s, isa);
      });
}

class ScratchOfGemms : public ::testing::TestWithParam<int> {};

TEST_P(ScratchOfGemms, IsWhatIsStated) {
  std::mt19937 random(static_cast<uint32_t>(GetParam()));
  for (const int threads : {1, 3}) {
    for (const GemmIsa isa : isas()) {
      SCOPED_TRACE(::testing::Message()
                   << "isa " << static_cast<int>(isa) << " threads " << threads);
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
}  // namespace phi::testing
