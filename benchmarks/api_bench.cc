// Cost of a call: dense, distributed with a cached decision, clipped, and InferSPMD without cache.
// Each reports `allocs`, heap allocations per call.
#include <benchmark/benchmark.h>

#include <cstdlib>

#include "distributed/api.h"
#include "distributed/comm/local/local_world.h"
#include "distributed/spmd/rules.h"
#include "phi/api.h"

namespace {
thread_local int64_t allocations = 0;
}

// Every heap allocation of ours goes through operator new or aligned_alloc; the linker redirects
// both here (--wrap in CMakeLists.txt).
extern "C" void* __real__Znwm(size_t n);
extern "C" void* __wrap__Znwm(size_t n) {
  ++allocations;
  return __real__Znwm(n);
}
extern "C" void* __real_aligned_alloc(size_t alignment, size_t n);
extern "C" void* __wrap_aligned_alloc(size_t alignment, size_t n) {
  ++allocations;
  return __real_aligned_alloc(alignment, n);
}

namespace phi {
namespace {

using distributed::ProcessMesh;
using distributed::Replicate;
using distributed::Shard;
using distributed::shard_tensor;
using distributed::TensorDistAttr;

template <typename F>
void time_calls(benchmark::State& state, F&& call) {
  call();
  const int64_t before = allocations;
  for (auto _ : state) benchmark::DoNotOptimize(call());
  state.counters["allocs"] = benchmark::Counter(static_cast<double>(allocations - before),
                                                benchmark::Counter::kAvgIterations);
}

Tensor square_matrix(int64_t n) { return full({n, n}, 1.0f); }

void DenseAdd(benchmark::State& state) {
  const Tensor x = square_matrix(state.range(0)), y = square_matrix(state.range(0));
  time_calls(state, [&] { return add(x, y); });
}
BENCHMARK(DenseAdd)->Arg(8)->Arg(64);

void DenseMatmul(benchmark::State& state) {
  const Tensor x = square_matrix(state.range(0)), y = square_matrix(state.range(0));
  time_calls(state, [&] { return matmul(x, y); });
}
BENCHMARK(DenseMatmul)->Arg(8)->Arg(64);

void DistributedAdd(benchmark::State& state) {
  const ProcessMesh mesh({1}, {"x"});
  const Tensor x = shard_tensor(square_matrix(8), mesh, {Shard(0)});
  const Tensor y = shard_tensor(square_matrix(8), mesh, {Shard(0)});
  time_calls(state, [&] { return add(x, y); });
}
BENCHMARK(DistributedAdd);

void DistributedMatmul(benchmark::State& state) {
  const ProcessMesh mesh({1}, {"x"});
  const Tensor x = shard_tensor(square_matrix(8), mesh, {Shard(0)});
  const Tensor y = shard_tensor(square_matrix(8), mesh, {Replicate()});
  time_calls(state, [&] { return matmul(x, y); });
}
BENCHMARK(DistributedMatmul);

// At rank 0 of three, of which the others have the mesh; they have nothing to send or to receive.
void clipped_matmul(benchmark::State& state) {
  const ProcessMesh elsewhere({2}, {"x"}, {1, 2});
  const Tensor x = shard_tensor(square_matrix(8), elsewhere, {Shard(0)});
  const Tensor y = shard_tensor(square_matrix(8), elsewhere, {Replicate()});
  const int64_t held = memory_stats(CPUPlace()).current;
  time_calls(state, [&] { return matmul(x, y); });
  state.counters["tensor_bytes"] = static_cast<double>(memory_stats(CPUPlace()).current - held);
}

void ClippedMatmul(benchmark::State& state) {
  distributed::run_ranks(3, [&](distributed::World& world) {
    if (world.rank() == 0) clipped_matmul(state);
  });
}
BENCHMARK(ClippedMatmul);

void InferSpmdMatmul(benchmark::State& state) {
  const int64_t ranks = state.range(0);
  const ProcessMesh mesh({2, ranks / 2}, {"dp", "tp"});
  const distributed::TensorSpec x{{1024, 4096}, TensorDistAttr::get(mesh, {Shard(0), Replicate()})};
  const distributed::TensorSpec y{{4096, 8192}, TensorDistAttr::get(mesh, {Replicate(), Shard(1)})};
  time_calls(state, [&] { return distributed::MatmulInferSpmd(x, y, false, false).forward(); });
}
BENCHMARK(InferSpmdMatmul)->Arg(8)->Arg(512)->Arg(65536);

}  // namespace
}  // namespace phi

BENCHMARK_MAIN();
