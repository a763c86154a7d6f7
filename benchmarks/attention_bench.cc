// Attention and its gradient at the reference GPT's shape (6 heads of 64) and at a longer sequence.
// Each reports its GFLOP/s: two products forward, five backward, half of them where causal.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>
#include <string>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"

namespace phi {
namespace {

struct Problem {
  int64_t batch, seq;
  bool causal;
  static constexpr int64_t kHeads = 6, kWidth = 64;

  Dims dims() const { return {batch, seq, kHeads, kWidth}; }
  double flops(int products) const {
    const double all = 2.0 * products * static_cast<double>(batch * kHeads * seq * seq * kWidth);
    return causal ? all / 2 : all;
  }
};

template <typename T>
DenseTensor random_tensor(const Dims& dims, uint32_t seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> draw(-1, 1);
  DenseTensor x = DenseTensor::empty({dims, dtype_of<T>()}, CPUPlace());
  std::generate_n(x.mutable_data<T>(), dims.numel(), [&] { return T(draw(engine)); });
  return x;
}

template <typename T>
struct Tensors {
  explicit Tensors(const Problem& p)
      : q(random_tensor<T>(p.dims(), 1)),
        k(random_tensor<T>(p.dims(), 2)),
        v(random_tensor<T>(p.dims(), 3)),
        out(random_tensor<T>(p.dims(), 4)),
        out_grad(random_tensor<T>(p.dims(), 5)),
        lse(random_tensor<float>({p.batch, Problem::kHeads, p.seq}, 6)),
        causal(p.causal) {
    forward();
  }
  void forward() {
    registered<kernels::flash_attention, T>(KernelContext(), q, k, v, nullptr, nullptr, 0.0f,
                                            causal, false, true, &out, nullptr, &lse, nullptr);
  }
  void backward() {
    registered<kernels::flash_attention_grad, T>(KernelContext(), q, k, v, out, lse, nullptr,
                                                 nullptr, out_grad, 0.0f, causal, true, &q_grad,
                                                 &k_grad, &v_grad);
  }

  DenseTensor q, k, v, out, out_grad, lse;
  DenseTensor q_grad = q.clone(), k_grad = q.clone(), v_grad = q.clone();
  bool causal;
};

template <typename T>
void attend(benchmark::State& state, const Problem& p, bool backward) {
  Tensors<T> tensors(p);
  for (auto _ : state) {
    if (backward) {
      tensors.backward();
    } else {
      tensors.forward();
    }
  }
  state.counters["GFLOP/s"] = benchmark::Counter(p.flops(backward ? 5 : 2) * 1e-9,
                                                 benchmark::Counter::kIsIterationInvariantRate);
}

template <typename T>
void register_all(const std::string& dtype) {
  for (const Problem& p : {Problem{8, 256, true}, {2, 1024, true}, {2, 1024, false}}) {
    for (const bool backward : {false, true}) {
      const std::string name = dtype + (backward ? " backward " : " forward ") +
                               std::to_string(p.batch) + "x" + std::to_string(p.seq) + "x6x64" +
                               (p.causal ? " causal" : "");
      benchmark::RegisterBenchmark(name.c_str(),
                                   [=](benchmark::State& state) { attend<T>(state, p, backward); })
          ->Unit(benchmark::kMicrosecond)
          ->MinTime(0.2);
    }
  }
}

}  // namespace
}  // namespace phi

int main(int argc, char** argv) {
  benchmark::Initialize(&argc, argv);
  phi::register_all<float>("float32");
  phi::register_all<phi::bfloat16>("bfloat16");
  phi::register_all<phi::float16>("float16");
  benchmark::RunSpecifiedBenchmarks();
  return 0;
}
