// How fast collectives and reshards are: `mpirun -n 4 build/bin/reshard_bench [MiB] [repeats]`.
//
// GB/s is bytes that all ranks together received, by the plan's own count, per second of the median
// repeat (from barrier to barrier, so the slowest rank counts).
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"
#include "distributed/reshard/plan.h"

namespace phi::distributed {
namespace {

struct Timing {
  double median_s;
  double spread_s;  // from the fastest to the slowest repeat
  double bytes;     // received by all ranks in one repeat
};

Timing measure(World& world, int repeats, const std::function<void()>& body) {
  using Clock = std::chrono::steady_clock;
  Group& all = world.everyone();
  body();
  const int64_t before = world.rank_context().counters().bytes_received;
  std::vector<double> seconds;
  for (int i = 0; i < repeats; ++i) {
    all.barrier();
    const auto start = Clock::now();
    body();
    all.barrier();
    seconds.push_back(std::chrono::duration<double>(Clock::now() - start).count());
  }
  auto bytes =
      static_cast<double>(world.rank_context().counters().bytes_received - before) / repeats;
  all.all_reduce(&bytes, 1, DataType::FLOAT64, ReduceKind::kSum);
  std::sort(seconds.begin(), seconds.end());
  return {seconds[seconds.size() / 2], seconds.back() - seconds.front(), bytes};
}

void report(World& world, const std::string& name, const Timing& t) {
  if (world.rank() != 0) return;
  fmt::print("{:44} {:10.3f} ms  +-{:8.3f}  {:7.2f} GB/s\n", name, t.median_s * 1e3,
             t.spread_s * 1e3 / 2, t.bytes / t.median_s * 1e-9);
}

void bench_collectives(World& world, int64_t count, int repeats) {
  Group& all = world.everyone();
  const int64_t n = world.size();
  const int64_t part = count / n;
  std::vector<float> in(static_cast<size_t>(count), 1.0f);
  std::vector<float> out(in.size());
  const auto run = [&](const std::string& name, const std::function<void()>& body) {
    report(world, name, measure(world, repeats, body));
  };
  run("all_reduce",
      [&] { all.all_reduce(in.data(), out.data(), count, DataType::FLOAT32, ReduceKind::kSum); });
  run("reduce_scatter", [&] {
    all.reduce_scatter(in.data(), out.data(), part, DataType::FLOAT32, ReduceKind::kSum);
  });
  run("all_gather", [&] { all.all_gather(in.data(), out.data(), part, DataType::FLOAT32); });
  run("all_to_all", [&] { all.all_to_all(in.data(), out.data(), part, DataType::FLOAT32); });
  run("broadcast", [&] { all.broadcast(out.data(), count, DataType::FLOAT32, 0); });
}

void bench_latency(World& world, int repeats) {
  Group& all = world.everyone();
  std::vector<float> x(4096, 1.0f);
  for (int64_t count : {1, 256, 4096}) {
    report(world, fmt::format("100 x all_reduce of {} float32", count),
           measure(world, repeats, [&] {
             for (int i = 0; i < 100; ++i) {
               all.all_reduce(x.data(), count, DataType::FLOAT32, ReduceKind::kMax);
             }
           }));
  }
  report(world, "100 x barrier", measure(world, repeats, [&] {
           for (int i = 0; i < 100; ++i) all.barrier();
         }));
}

void bench_reshards(World& world, int64_t count, int repeats) {
  const auto side = static_cast<int64_t>(std::sqrt(static_cast<double>(count)));
  const ProcessMesh mesh({world.size()});
  std::vector<int64_t> turned = mesh.ranks();
  std::rotate(turned.begin(), turned.begin() + 1, turned.end());
  const ProcessMesh other({world.size()}, {}, turned);
  const auto* r = TensorDistAttr::replicated(mesh);
  const auto* s0 = TensorDistAttr::get(mesh, {Shard(0)});
  const auto* s1 = TensorDistAttr::get(mesh, {Shard(1)});
  const auto* p = TensorDistAttr::get(mesh, {Partial()});
  const auto* moved = TensorDistAttr::get(other, {Shard(0)});
  const std::pair<const TensorDistAttr*, const TensorDistAttr*> cases[] = {
      {s0, r}, {s1, r}, {r, s0}, {s0, s1}, {s1, s0}, {p, r}, {p, s0}, {p, s1}, {s0, moved}};
  for (const auto& [src, dst] : cases) {
    const TensorMeta meta{{side, side}, DataType::FLOAT32};
    DistTensor x = DistTensor::empty(meta, src, CPUPlace(), world.rank());
    std::fill_n(x.local().mutable_data<float>(), x.local().numel(), 1.0f);
    const auto name = fmt::format("reshard {} -> {}", src->placement(0).to_string(),
                                  dst == moved ? "next ranks" : dst->placement(0).to_string());
    report(world, name,
           measure(world, repeats, [&, to = dst] { const DistTensor y = reshard(x, to); }));
  }
}

}  // namespace
}  // namespace phi::distributed

int main(int argc, char** argv) {
  using namespace phi::distributed;
  World& world = init_world(&argc, &argv);
  try {
    const int64_t mebibytes = argc > 1 ? std::stoll(argv[1]) : 64;
    const int repeats = argc > 2 ? std::stoi(argv[2]) : 7;
    const int64_t count = mebibytes * (1 << 20) / 4;
    if (world.rank() == 0) fmt::print("{} ranks, {} MiB of float32\n", world.size(), mebibytes);
    bench_collectives(world, count, repeats);
    bench_latency(world, repeats);
    bench_reshards(world, count, repeats);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
  finalize_world();
}
