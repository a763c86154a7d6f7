// Gradient kernels of a training step at the reference GPT's shapes: 2048 tokens (batch 8 of 256),
// d = 384, 1536 hidden, 6 heads of 64. Products report GFLOP/s, the others bytes read and written.
#include <benchmark/benchmark.h>

#include <algorithm>
#include <random>

#include "phi/core/registered_kernel.h"
#include "phi/generated/kernels/attention.h"
#include "phi/generated/kernels/elementwise.h"
#include "phi/generated/kernels/lookup.h"
#include "phi/generated/kernels/matmul.h"
#include "phi/generated/kernels/random.h"
#include "phi/generated/kernels/reduction.h"
#include "phi/generated/kernels/shape.h"
#include "phi/generated/kernels/unary.h"

namespace phi {
namespace {

constexpr int64_t kTokens = 2048;
constexpr int64_t kWidth = 384;
constexpr int64_t kHidden = 1536;

template <typename T>
DenseTensor random_signed_tensor(const Dims& dims) {
  std::mt19937 engine(1);
  std::uniform_real_distribution<float> draw(-1, 1);
  DenseTensor x = DenseTensor::empty({dims, dtype_of<T>()}, CPUPlace());
  std::generate_n(x.mutable_data<T>(), x.numel(), [&] { return T(draw(engine)); });
  return x;
}

DenseTensor random_ids(int64_t n, int64_t below) {
  std::mt19937 engine(1);
  DenseTensor x = DenseTensor::empty({{n}, DataType::INT64}, CPUPlace());
  std::generate_n(x.mutable_data<int64_t>(), n, [&] { return int64_t(engine() % below); });
  return x;
}

/// Times body() and reports `bytes` per call.
template <typename F>
void measure_bytes(benchmark::State& state, size_t bytes, F&& body) {
  for (auto _ : state) {
    body();
    benchmark::ClobberMemory();
  }
  state.SetBytesProcessed(state.iterations() * static_cast<int64_t>(bytes));
}

template <typename T>
void matmul_grad(benchmark::State& state) {
  const int64_t k = state.range(0), n = state.range(1);
  const DenseTensor x = random_signed_tensor<T>({8, kTokens / 8, k}),
                    w = random_signed_tensor<T>({k, n});
  const DenseTensor g = random_signed_tensor<T>({8, kTokens / 8, n});
  DenseTensor dx = random_signed_tensor<T>(x.dims()), dw = random_signed_tensor<T>(w.dims());
  for (auto _ : state) {
    registered<kernels::matmul_grad, T>(KernelContext(), x, w, g, false, false, &dx, &dw);
    benchmark::ClobberMemory();
  }
  state.counters["GFLOP/s"] = benchmark::Counter(4e-9 * double(kTokens) * double(k * n),
                                                 benchmark::Counter::kIsIterationInvariantRate);
}
BENCHMARK(matmul_grad<float>)->Args({kWidth, kHidden})->Args({kHidden, kWidth});
BENCHMARK(matmul_grad<bfloat16>)->Args({kWidth, kHidden})->Args({kHidden, kWidth});

/// `body(x, g, dx)` on arrays of `dims`.
template <typename T, typename F>
void measure_unary(benchmark::State& state, const Dims& dims, F body) {
  const DenseTensor x = random_signed_tensor<T>(dims), g = random_signed_tensor<T>(dims);
  DenseTensor dx = random_signed_tensor<T>(dims);
  measure_bytes(state, 3 * x.nbytes(), [&] { body(x, g, &dx); });
}

template <typename T, bool kApproximate>
void gelu_grad(benchmark::State& state) {
  measure_unary<T>(state, {kTokens, kHidden}, [](const auto& x, const auto& g, auto* dx) {
    registered<kernels::gelu_grad, T>(KernelContext(), x, g, kApproximate, dx);
  });
}
BENCHMARK(gelu_grad<float, false>);
BENCHMARK(gelu_grad<float, true>);
BENCHMARK(gelu_grad<bfloat16, true>);

template <typename T>
void silu_grad(benchmark::State& state) {
  measure_unary<T>(state, {kTokens, kHidden}, [](const auto& x, const auto& g, auto* dx) {
    registered<kernels::silu_grad, T>(KernelContext(), x, g, dx);
  });
}
BENCHMARK(silu_grad<float>);

template <typename T>
void tanh_grad(benchmark::State& state) {
  measure_unary<T>(state, {kTokens, kHidden}, [](const auto& x, const auto& g, auto* dx) {
    registered<kernels::tanh_grad, T>(KernelContext(), x, g, dx);
  });
}
BENCHMARK(tanh_grad<float>);

template <typename T>
void softmax_grad(benchmark::State& state) {
  measure_unary<T>(state, {8 * 6 * 256, 256}, [](const auto& x, const auto& g, auto* dx) {
    registered<kernels::softmax_grad, T>(KernelContext(), x, g, -1, dx);
  });
}
BENCHMARK(softmax_grad<float>);
BENCHMARK(softmax_grad<bfloat16>);

template <typename T>
void rope_grad(benchmark::State& state) {
  const Dims dims{8, 256, 6, 64};
  const DenseTensor g = random_signed_tensor<T>(dims);
  DenseTensor dq = random_signed_tensor<T>(dims), dk = random_signed_tensor<T>(dims);
  measure_bytes(state, 4 * g.nbytes(), [&] {
    registered<kernels::fused_rotary_position_embedding_grad, T>(KernelContext(), g, &g, nullptr,
                                                                 nullptr, nullptr, nullptr, false,
                                                                 false, 1e4f, &dq, &dk, nullptr);
  });
}
BENCHMARK(rope_grad<float>);
BENCHMARK(rope_grad<bfloat16>);

template <typename T>
void swiglu_grad(benchmark::State& state) {
  const Dims dims{kTokens, kHidden};
  const DenseTensor x = random_signed_tensor<T>(dims), y = random_signed_tensor<T>(dims);
  const DenseTensor g = random_signed_tensor<T>(dims);
  DenseTensor dx = random_signed_tensor<T>(dims), dy = random_signed_tensor<T>(dims);
  measure_bytes(state, 5 * x.nbytes(),
                [&] { registered<kernels::swiglu_grad, T>(KernelContext(), x, &y, g, &dx, &dy); });
}
BENCHMARK(swiglu_grad<float>);
BENCHMARK(swiglu_grad<bfloat16>);

template <typename T>
void dropout_grad(benchmark::State& state) {
  const Dims dims{kTokens, kWidth};
  const DenseTensor g = random_signed_tensor<T>(dims);
  DenseTensor mask = DenseTensor::empty({dims, DataType::UINT8}, CPUPlace());
  std::mt19937 engine(2);
  std::generate_n(mask.mutable_data<uint8_t>(), mask.numel(), [&] { return engine() & 1u; });
  DenseTensor dx = random_signed_tensor<T>(dims);
  measure_bytes(state, 2 * g.nbytes() + mask.nbytes(), [&] {
    registered<kernels::dropout_grad, T>(KernelContext(), mask, g, 0.5, false, "upscale_in_train",
                                         &dx);
  });
}
BENCHMARK(dropout_grad<float>);

/// The gradient of a bias: the sum over all tokens.
template <typename T>
void reduce_as(benchmark::State& state) {
  const DenseTensor x = random_signed_tensor<T>({kTokens, state.range(0)});
  DenseTensor out = random_signed_tensor<T>({state.range(0)});
  measure_bytes(state, x.nbytes(),
                [&] { registered<kernels::reduce_as, T>(KernelContext(), x, &out); });
}
BENCHMARK(reduce_as<float>)->Arg(kWidth)->Arg(kHidden);
BENCHMARK(reduce_as<bfloat16>)->Arg(kHidden);

template <typename T>
void squared_l2_norm(benchmark::State& state) {
  const DenseTensor x = random_signed_tensor<T>({kTokens, kHidden});
  DenseTensor out = random_signed_tensor<float>({});
  measure_bytes(state, x.nbytes(),
                [&] { registered<kernels::squared_l2_norm, T>(KernelContext(), x, &out); });
}
BENCHMARK(squared_l2_norm<float>);
BENCHMARK(squared_l2_norm<bfloat16>);

/// Bytes of out_grad and of the whole table's gradient.
template <typename T>
void embedding_grad(benchmark::State& state) {
  const DenseTensor ids = random_ids(kTokens, state.range(0));
  const DenseTensor g = random_signed_tensor<T>({kTokens, kWidth});
  DenseTensor dw = random_signed_tensor<T>({state.range(0), kWidth});
  measure_bytes(state, g.nbytes() + dw.nbytes(),
                [&] { registered<kernels::embedding_grad, T>(KernelContext(), ids, g, -1, &dw); });
}
BENCHMARK(embedding_grad<float>)->Arg(256)->Arg(50304);
BENCHMARK(embedding_grad<bfloat16>)->Arg(256);

template <typename T>
void slice_grad(benchmark::State& state) {
  const DenseTensor g = random_signed_tensor<T>({8, 128, kWidth});
  DenseTensor dx = random_signed_tensor<T>({8, 256, kWidth});
  measure_bytes(state, g.nbytes() + dx.nbytes(), [&] {
    registered<kernels::slice_grad, T>(KernelContext(), g, {1}, {64}, {192}, &dx);
  });
}
BENCHMARK(slice_grad<float>);

}  // namespace
}  // namespace phi

BENCHMARK_MAIN();
