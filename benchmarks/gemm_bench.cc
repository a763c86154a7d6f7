// Products of the reference GPT's shapes (d = 384), their gradient forms and attention's, in both
// dtypes, next to this core's peak. Each reports its GFLOP/s and the peak.
//
// The peak is measured when the program starts, on random numbers: how fast a core multiplies
// depends on its operands, and zeros would flatter it.
#include <benchmark/benchmark.h>
#include <immintrin.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <random>
#include <string>
#include <type_traits>

#include "phi/kernels/cpu/matmul/gemm.h"

namespace phi {
namespace {

template <typename T>
T* random_values(int64_t n, Workspace* memory) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  T* values = memory->room<T>(n);
  std::generate_n(values, n, [&] { return T(draw(engine)); });
  return values;
}

/// GFLOP/s of the best of several runs of `body`, each of `flops`.
template <typename F>
double best_rate(double flops, F&& body) {
  double seconds = 1;
  for (int run = 0; run < 20; ++run) {
    const auto start = std::chrono::steady_clock::now();
    body();
    const std::chrono::duration<double> taken = std::chrono::steady_clock::now() - start;
    seconds = std::min(seconds, taken.count());
  }
  return flops / seconds * 1e-9;
}

constexpr int kPeakSteps = 200000;
constexpr int kPeakChains = 12;  // independent sums: more than latency times units

__attribute__((target("avx512f"))) void multiply_add_512() {
  __m512 sums[kPeakChains];
  for (int i = 0; i < kPeakChains; ++i) sums[i] = _mm512_set1_ps(static_cast<float>(i));
  const __m512 x = _mm512_set1_ps(0.73f), y = _mm512_set1_ps(0.19f);
  for (int step = 0; step < kPeakSteps; ++step) {
    for (__m512& sum : sums) sum = _mm512_fmadd_ps(sum, x, y);
  }
  for (const __m512& sum : sums) benchmark::DoNotOptimize(sum);
}

__attribute__((target("avx2,fma"))) void multiply_add_256() {
  __m256 sums[kPeakChains];
  for (int i = 0; i < kPeakChains; ++i) sums[i] = _mm256_set1_ps(static_cast<float>(i));
  const __m256 x = _mm256_set1_ps(0.73f), y = _mm256_set1_ps(0.19f);
  for (int step = 0; step < kPeakSteps; ++step) {
    for (__m256& sum : sums) sum = _mm256_fmadd_ps(sum, x, y);
  }
  for (const __m256& sum : sums) benchmark::DoNotOptimize(sum);
}

double float_peak() {
  const bool wide = __builtin_cpu_supports("avx512f");
  const double flops = 2.0 * (wide ? 16 : 8) * kPeakChains * kPeakSteps;
  return best_rate(flops, wide ? multiply_add_512 : multiply_add_256);
}

/// Blocks of 32 x 32 x 256 whose operands stay in the L1 cache; float's peak where there are no
/// instructions for bfloat16.
double bf16_peak() {
  if (gemm_isa() == GemmIsa::kWiden) return float_peak();
  constexpr int64_t kDepth = 256, kCalls = 500;
  Workspace left, right, sums;
  const auto* a = random_values<bfloat16>(32 * kDepth, &left);
  PackedRight<bfloat16> b;
  b.pack(kDepth, 32, random_values<bfloat16>(32 * kDepth, &right), 32, false);
  auto* c = sums.room<float>(32 * 32);
  return best_rate(2.0 * 32 * 32 * kDepth * kCalls, [&] {
    for (int64_t i = 0; i < kCalls; ++i)
      gemm({.m = 32, .n = 32, .k = kDepth}, 1, a, kDepth, b, {}, 0, c, 32);
  });
}

template <typename T>
double peak() {
  static const double rate = std::is_same_v<T, bfloat16> ? bf16_peak() : float_peak();
  return rate;
}

template <typename T>
void product(benchmark::State& state, const GemmShape& s) {
  Workspace a_memory, b_memory, c_memory;
  const T* a = random_values<T>(s.m * s.k, &a_memory);
  const T* b = random_values<T>(s.k * s.n, &b_memory);
  T* c = c_memory.room<T>(s.m * s.n);
  for (auto _ : state) {
    gemm<T>(s, 1, a, s.trans_a ? s.m : s.k, b, s.trans_b ? s.k : s.n, 0, c, s.n);
    benchmark::ClobberMemory();
  }
  const double flops = 2e-9 * static_cast<double>(s.m * s.n * s.k);
  using benchmark::Counter;
  const auto iterations = static_cast<double>(state.iterations());
  state.counters["GFLOP/s"] = Counter(flops * iterations, Counter::kIsRate);
  state.counters["peak"] = peak<T>();
}

void add(const GemmShape& s) {
  const std::string name = std::to_string(s.m) + "x" + std::to_string(s.k) + "x" +
                           std::to_string(s.n) + (s.trans_a ? "/T" : "/N") +
                           (s.trans_b ? "T" : "N");
  benchmark::RegisterBenchmark(("bfloat16/" + name).c_str(), product<bfloat16>, s);
  benchmark::RegisterBenchmark(("float32/" + name).c_str(), product<float>, s);
}

void add_all() {
  struct Layer {
    int64_t in, out;
  };
  for (const int64_t rows : {2048, 1024, 512}) {
    for (const auto [in, out] :
         {Layer{384, 1152}, {384, 384}, {384, 1536}, {1536, 384}, {384, 256}}) {
      add({rows, out, in});               // y = x w
      add({rows, in, out, false, true});  // dx = dy w^T
      add({in, out, rows, true, false});  // dw = x^T dy
    }
  }
  add({256, 256, 64});
  add({256, 256, 64, false, true});
  for (const int64_t n : {64, 128, 256, 512, 1024, 2048}) add({n, n, n});
}

}  // namespace
}  // namespace phi

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  constexpr const char* kIsas[] = {"widened to float32", "AVX-512 BF16", "AMX"};
  std::printf("bfloat16 by %s; peak of a core: float32 %.0f GFLOP/s, bfloat16 %.0f GFLOP/s\n",
              kIsas[static_cast<int>(phi::gemm_isa())], phi::peak<float>(),
              phi::peak<phi::bfloat16>());
  phi::add_all();
  benchmark::RunSpecifiedBenchmarks();
}
