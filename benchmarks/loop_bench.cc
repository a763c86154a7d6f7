// Kernels of a training step that loop over elements and rows, at the reference GPT's shapes: 2048
// tokens (batch 8 of 256), d = 384, 1536 hidden, and a weight of 384 * 1536. Reports bytes read and
// written; gradients of single ops are in gradient_bench.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/binary.h"
#include "phi/generated/kernels/creation.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/generated/kernels/loss.h"
#include "phi/generated/kernels/normalisation.h"
#include "phi/generated/kernels/optimizer.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/generated/kernels/unary.h"
#include "phi/kernels/functors/hd.h"

namespace phi {
namespace {

constexpr int64_t kTokens = 2048;
constexpr int64_t kWidth = 384;
constexpr int64_t kHidden = 1536;
constexpr int64_t kClasses = 512;

template <typename T>
DenseTensor random_tensor(const Dims& dims) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> draw(0, 1);
  DenseTensor x = DenseTensor::empty({dims, dtype_of<T>()}, CPUPlace());
  std::generate_n(x.mutable_data<T>(), x.numel(), [&] { return T(draw(engine)); });
  return x;
}

/// Times body() and reports `bytes` per call.
template <typename F>
void measure(benchmark::State& state, size_t bytes, F&& body) {
  for (auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

template <typename T, bool kApproximate>
void gelu(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, kHidden});
  DenseTensor out = random_tensor<T>(x.dims());
  measure(state, 2 * x.nbytes(),
          [&] { registered<kernels::gelu, T>(KernelContext(), x, kApproximate, &out); });
}
BENCHMARK(gelu<float, false>);
BENCHMARK(gelu<float, true>);
BENCHMARK(gelu<bfloat16, true>);

template <typename T>
void swiglu(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, kHidden});
  DenseTensor out = random_tensor<T>(x.dims());
  measure(state, 3 * x.nbytes(),
          [&] { registered<kernels::swiglu, T>(KernelContext(), x, &x, &out); });
}
BENCHMARK(swiglu<float>);
BENCHMARK(swiglu<bfloat16>);

/// With a range: a bias of so many elements; without one: two full arrays.
template <typename T>
void add(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, state.range(0)});
  const DenseTensor y =
      state.range(1) ? random_tensor<T>({state.range(0)}) : random_tensor<T>(x.dims());
  DenseTensor out = random_tensor<T>(x.dims());
  measure(state, 2 * x.nbytes() + y.nbytes(),
          [&] { registered<kernels::add, T>(KernelContext(), x, y, &out); });
}
BENCHMARK(add<float>)->Args({kWidth, 0})->Args({kWidth, 1})->Args({kHidden, 1});
BENCHMARK(add<bfloat16>)->Args({kWidth, 0})->Args({kWidth, 1})->Args({kHidden, 1});

template <typename From, typename To>
void cast(benchmark::State& state) {
  const DenseTensor x = random_tensor<From>({kTokens, kWidth});
  DenseTensor out = random_tensor<To>(x.dims());
  measure(state, x.nbytes() + out.nbytes(),
          [&] { registered<kernels::cast, From>(KernelContext(), x, &out); });
}
BENCHMARK(cast<float, bfloat16>);
BENCHMARK(cast<bfloat16, float>);

/// Sums of rows.
template <typename T>
void sum(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, state.range(0)});
  DenseTensor out = random_tensor<T>({kTokens});
  const IntArray last{-1};
  measure(state, x.nbytes(), [&] { registered<kernels::sum, T>(KernelContext(), x, last, &out); });
}
BENCHMARK(sum<float>)->Arg(kWidth);
BENCHMARK(sum<bfloat16>)->Arg(kWidth);

template <typename T>
void softmax(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({8 * 6 * 256, 256});
  DenseTensor out = random_tensor<T>(x.dims());
  measure(state, 2 * x.nbytes(),
          [&] { registered<kernels::softmax, T>(KernelContext(), x, -1, &out); });
}
BENCHMARK(softmax<float>);
BENCHMARK(softmax<bfloat16>);

template <typename T>
void cross_entropy(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, kClasses});
  const DenseTensor label =
      DenseTensor::from<int64_t>(std::vector<int64_t>(kTokens, 7), {kTokens, 1});
  DenseTensor shares = random_tensor<T>(x.dims()), loss = random_tensor<T>({kTokens, 1});
  measure(state, 2 * x.nbytes(), [&] {
    registered<kernels::cross_entropy_with_softmax, T>(KernelContext(), x, label, false, true, true,
                                                       -100, -1, &shares, &loss);
  });
}
BENCHMARK(cross_entropy<float>);
BENCHMARK(cross_entropy<bfloat16>);

template <typename T>
void cross_entropy_grad(benchmark::State& state) {
  const DenseTensor shares = random_tensor<T>({kTokens, kClasses});
  const DenseTensor label =
      DenseTensor::from<int64_t>(std::vector<int64_t>(kTokens, 7), {kTokens, 1});
  const DenseTensor loss_grad = random_tensor<T>({kTokens, 1});
  DenseTensor dx = random_tensor<T>(shares.dims());
  measure(state, 2 * shares.nbytes(), [&] {
    registered<kernels::cross_entropy_with_softmax_grad, T>(KernelContext(), label, shares,
                                                            loss_grad, false, true, -100, -1, &dx);
  });
}
BENCHMARK(cross_entropy_grad<float>);
BENCHMARK(cross_entropy_grad<bfloat16>);

template <typename T>
void layer_norm(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, kWidth});
  const DenseTensor scale = random_tensor<float>({kWidth});
  DenseTensor out = random_tensor<T>(x.dims());
  DenseTensor mean = random_tensor<float>({kTokens}), variance = random_tensor<float>({kTokens});
  measure(state, 2 * x.nbytes(), [&] {
    registered<kernels::layer_norm, T>(KernelContext(), x, &scale, &scale, 1e-5f, 1, &out, &mean,
                                       &variance);
  });
}
BENCHMARK(layer_norm<float>);
BENCHMARK(layer_norm<bfloat16>);

template <typename T>
void layer_norm_grad(benchmark::State& state) {
  const DenseTensor x = random_tensor<T>({kTokens, kWidth});
  const DenseTensor scale = random_tensor<float>({kWidth});
  const DenseTensor mean = random_tensor<float>({kTokens});
  DenseTensor dx = random_tensor<T>(x.dims());
  DenseTensor dscale = random_tensor<float>({kWidth}), dbias = random_tensor<float>({kWidth});
  measure(state, 3 * x.nbytes(), [&] {
    registered<kernels::layer_norm_grad, T>(KernelContext(), x, &scale, mean, mean, x, 1e-5f, 1,
                                            &dx, &dscale, &dbias);
  });
}
BENCHMARK(layer_norm_grad<float>);
BENCHMARK(layer_norm_grad<bfloat16>);

/// bfloat16 weights have a float master copy.
template <typename T>
void adamw(benchmark::State& state) {
  const Dims dims{kWidth, kHidden};
  DenseTensor w = random_tensor<T>(dims), m = random_tensor<float>(dims);
  DenseTensor v = random_tensor<float>(dims), master = random_tensor<float>(dims);
  const DenseTensor g = random_tensor<T>(dims);
  const float rate = 1e-3f;
  const int64_t number = 3;
  const DenseTensor lr = DenseTensor::from(std::span(&rate, 1), {});
  const DenseTensor step = DenseTensor::from(std::span(&number, 1), {});
  DenseTensor* masters = kIs16Bit<T> ? &master : nullptr;
  measure(state, (kIs16Bit<T> ? 6 : 4) * m.nbytes() + (kIs16Bit<T> ? 2 : 3) * w.nbytes(), [&] {
    registered<kernels::scaled_adamw, T>(KernelContext(), w, g, m, v, masters, lr, step, nullptr,
                                         0.9f, 0.95f, 1e-8f, 0.1f, &w, &m, &v, masters);
  });
}
BENCHMARK(adamw<float>);
BENCHMARK(adamw<bfloat16>);

}  // namespace
}  // namespace phi

BENCHMARK_MAIN();
