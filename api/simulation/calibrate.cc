// Times operators and messages, and divides the work that the simulator counts for them by it.
#include "api/simulation/calibrate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <thread>

#include "api/generated/ops/add.h"
#include "api/generated/ops/cast.h"
#include "api/generated/ops/concat.h"
#include "api/generated/ops/cross_entropy_with_softmax.h"
#include "api/generated/ops/flash_attention.h"
#include "api/generated/ops/full.h"
#include "api/generated/ops/gelu.h"
#include "api/generated/ops/layer_norm.h"
#include "api/generated/ops/matmul.h"
#include "api/generated/ops/reduce_as.h"
#include "api/generated/ops/scaled_adamw_.h"
#include "api/generated/ops/split_with_num.h"
#include "api/generated/ops/squared_l2_norm.h"
#include "api/generated/ops/uniform.h"
#include "api/simulation/record_step.h"
#include "distributed/simulator/simulate.h"

namespace phi::simulation {
namespace {

using distributed::RecordingWorld;
using distributed::World;
using distributed::simulator::Computation;
using distributed::simulator::kBytesFamily;
using distributed::simulator::kMatmulFamily;
using distributed::simulator::LinkLevel;
using distributed::simulator::MachineModel;
using distributed::simulator::OpFamily;
using distributed::simulator::RankProgram;
using distributed::simulator::RatePoint;
using distributed::simulator::WorkUnit;

using Work = std::function<void()>;

// ---- what is measured ----

Tensor random_array(const IntArray& shape, DataType dtype) {
  return cast(uniform(shape, DataType::FLOAT32, -1.0, 1.0, /*seed=*/1), dtype);
}

Work matmuls(DataType dtype, int64_t n) {
  return
      [x = random_array({2 * n, n}, dtype), y = random_array({n, 4 * n}, dtype)] { matmul(x, y); };
}
Work matmul_grads(DataType dtype, int64_t n) {
  return [x = random_array({2 * n, n}, dtype), y = random_array({n, 4 * n}, dtype),
          grad = random_array({2 * n, 4 * n}, dtype)] { matmul_grad(x, y, grad, false, false); };
}

// Causal, 2 sequences of n positions, 4 heads of 64.
Work attentions(DataType dtype, int64_t n) {
  return [q = random_array({2, n, 4, 64}, dtype)] {
    flash_attention(q, q, q, std::nullopt, std::nullopt, 0.0f, /*causal=*/true,
                    /*return_softmax=*/false, /*is_test=*/true);
  };
}
Work attention_grads(DataType dtype, int64_t n) {
  const Tensor q = random_array({2, n, 4, 64}, dtype);
  const auto [out, softmax, lse, seed] = intermediate::flash_attention(
      q, q, q, std::nullopt, std::nullopt, 0.0f, /*causal=*/true, /*return_softmax=*/false,
      /*is_test=*/true);
  return [q, out = out, lse = lse] {
    flash_attention_grad(q, q, q, out, lse, std::nullopt, std::nullopt, q, 0.0f, /*causal=*/true,
                         /*is_test=*/true);
  };
}

Work additions(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype), y = random_array({n}, dtype)] { add(x, y); };
}
Work gelus(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype)] { gelu(x); };
}
Work gelu_grads(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype), grad = random_array({n}, dtype)] {
    gelu_grad(x, grad, false);
  };
}
Work norms(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), scale = random_array({512}, dtype)] {
    layer_norm(x, scale, scale);
  };
}
Work norm_grads(DataType dtype, int64_t n) {
  const Tensor x = random_array({n, 512}, dtype), scale = random_array({512}, dtype);
  const auto [out, mean, variance] = intermediate::layer_norm(x, scale, scale);
  return [x, scale, mean = mean, variance = variance] {
    layer_norm_grad(x, scale, scale, mean, variance, x, 1e-5f, 1);
  };
}
Work row_sums(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), target = random_array({512}, dtype)] {
    reduce_as(x, target);
  };
}
Work square_sums(DataType dtype, int64_t n) {
  return [x = random_array({n}, dtype)] { squared_l2_norm(x); };
}
Work concatenations(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype)] { concat({x, x, x}, 1); };
}
Work splits(DataType dtype, int64_t n) {
  return [x = random_array({n, 3 * 512}, dtype)] { split_with_num(x, 3, 1); };
}
Work cross_entropies(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), label = full({n, 1}, 0, DataType::INT64)] {
    cross_entropy_with_softmax(x, label);
  };
}
Work cross_entropy_grads(DataType dtype, int64_t n) {
  return [x = random_array({n, 512}, dtype), loss = random_array({n, 1}, dtype),
          label = full({n, 1}, 0, DataType::INT64)] {
    cross_entropy_with_softmax_grad(label, x, loss, false, true, -100, -1);
  };
}
// 16-bit parameters have moments and a master copy in float32.
Work updates(DataType dtype, int64_t n) {
  const bool is_half = size_of(dtype) == 2;
  const DataType state = is_half ? DataType::FLOAT32 : dtype;
  return [param = random_array({n}, dtype), grad = random_array({n}, dtype),
          moment1 = random_array({n}, state), moment2 = full({n}, 1.0, state),
          master = is_half ? std::optional(random_array({n}, state)) : std::nullopt,
          rate = full({}, 1e-3), step = full({}, 1, DataType::INT64)]() mutable {
    scaled_adamw_(param, grad, moment1, moment2, master, rate, step);
  };
}

struct MeasuredFamily {
  const char* name;
  std::vector<std::string> ops;
  WorkUnit by;
  std::vector<int64_t> sizes;  // the first two with --quick
  Work (*make)(DataType dtype, int64_t size);
};

std::vector<MeasuredFamily> measured_families() {
  const std::vector<int64_t> elements = {1 << 10, 1 << 14, 1 << 17, 1 << 20, 1 << 22};
  const std::vector<int64_t> rows = {4, 32, 256, 2048, 8192};
  const std::vector<int64_t> extents = {8, 16, 32, 64, 128, 256, 384};
  const std::vector<int64_t> lengths = {16, 64, 128, 256, 512};
  constexpr WorkUnit kFlops = WorkUnit::kFlops;
  constexpr WorkUnit kBytes = WorkUnit::kBytes;
  return {
      {kMatmulFamily, {"matmul"}, kFlops, extents, matmuls},
      {"matmul_grad", {"matmul_grad"}, kFlops, extents, matmul_grads},
      {"flash_attention", {"flash_attention"}, kFlops, lengths, attentions},
      {"flash_attention_grad", {"flash_attention_grad"}, kFlops, lengths, attention_grads},
      {kBytesFamily,
       {"add", "subtract", "multiply", "scale", "add_n", "cast", "full", "copy"},
       kBytes,
       elements,
       additions},
      {"gelu", {"gelu"}, kBytes, elements, gelus},
      {"gelu_grad", {"gelu_grad"}, kBytes, elements, gelu_grads},
      {"layer_norm", {"layer_norm", "rms_norm"}, kBytes, rows, norms},
      {"layer_norm_grad", {"layer_norm_grad", "rms_norm_grad"}, kBytes, rows, norm_grads},
      {"reduce_as", {"reduce_as", "sum", "mean"}, kBytes, rows, row_sums},
      {"squared_l2_norm", {"squared_l2_norm"}, kBytes, elements, square_sums},
      {"concat", {"concat"}, kBytes, rows, concatenations},
      {"split", {"split_with_num", "split"}, kBytes, rows, splits},
      {"cross_entropy", {"cross_entropy_with_softmax"}, kBytes, rows, cross_entropies},
      {"cross_entropy_grad",
       {"cross_entropy_with_softmax_grad"},
       kBytes,
       rows,
       cross_entropy_grads},
      {"adamw", {"scaled_adamw_"}, kBytes, elements, updates},
  };
}

// ---- how it is measured ----

struct Timing {
  double seconds = 0;
  double spread = 0;  // of the quartiles, relative to the median
};

struct Budget {
  double seconds;
  size_t samples;
};

// Replaces what a core's own caches hold: in a step, most arrays were last used long ago. It reads,
// because caches would write modified lines back during the work that is timed.
class CacheEvictor {
 public:
  void evict() {
    // The write keeps the sum from being optimised away.
    other_[0] = static_cast<char>(std::accumulate(other_.begin(), other_.end(), 0));
  }

 private:
  std::vector<char> other_ = std::vector<char>(size_t{8} << 20, 1);
};

// `evictor`: used before each sample; null: never.
Timing time_of(const Work& work, const Budget& budget, CacheEvictor* evictor) {
  using Clock = std::chrono::steady_clock;
  constexpr size_t kMost = 1000;
  const auto seconds_since = [](Clock::time_point start) {
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  work();
  std::vector<double> samples;
  for (const auto start = Clock::now();
       samples.size() < budget.samples ||
       (samples.size() < kMost && seconds_since(start) < budget.seconds);) {
    if (evictor) evictor->evict();
    const auto begin = Clock::now();
    work();
    samples.push_back(seconds_since(begin));
  }
  std::ranges::sort(samples);
  const auto quantile = [&](double part) {
    return samples[static_cast<size_t>(part * static_cast<double>(samples.size() - 1))];
  };
  // The mean, because a step is a sum; without the tenth of the samples that other processes delay.
  const size_t kept = std::max<size_t>(1, samples.size() * 9 / 10);
  const double sum =
      std::accumulate(samples.begin(), samples.begin() + static_cast<std::ptrdiff_t>(kept), 0.0);
  return {sum / static_cast<double>(kept), (quantile(0.75) - quantile(0.25)) / quantile(0.5)};
}

// The mean over all ranks, which every rank returns.
Timing time_on_all(const Work& work, const Budget& budget, CacheEvictor* evictor) {
  distributed::Group& everyone = World::current().everyone();
  everyone.barrier();
  const Timing own = time_of(work, budget, evictor);
  double both[] = {own.seconds, own.spread};
  everyone.all_reduce(both, 2, DataType::FLOAT64, distributed::ReduceKind::kAvg);
  return {both[0], both[1]};
}

// Flops or bytes of the work, as the simulator counts them.
double counted(const MeasuredFamily& family, DataType dtype, int64_t size) {
  RecordingWorld world(0, 1);
  const World::Scope scope(world);
  const RankProgram program = record_step(world, family.make(dtype, size));
  double total = 0;
  for (const auto& event : program.events) {
    const auto* launch = std::get_if<Computation>(&event);
    if (launch) total += family.by == WorkUnit::kFlops ? launch->flops : launch->bytes;
  }
  return total;
}

double median_of(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

// The largest relative error of a point's rate between its neighbours.
double residual_of(const OpFamily& family) {
  double largest = 0;
  for (size_t i = 1; i + 1 < family.points.size(); ++i) {
    const OpFamily around{family.name, {}, family.by, {family.points[i - 1], family.points[i + 1]}};
    const RatePoint& point = family.points[i];
    largest = std::max(largest, std::abs(around.per_second(point.work) / point.per_second - 1));
  }
  return largest;
}

class Calibrator {
 public:
  explicit Calibrator(const CalibrationOptions& options)
      : options_(options), budget_{options.quick ? 0.002 : 0.25, options.quick ? size_t{3} : 5} {}

  Calibration run() {
    MachineModel& machine = result_.machine;
    machine.cores = std::max<int64_t>(1, std::thread::hardware_concurrency());
    const Timing launch = time_on_all(additions(DataType::FLOAT32, 1), budget_, nullptr);
    machine.launch_overhead_us = launch.seconds * 1e6;
    result_.quality.push_back({"launch overhead", 1 / launch.seconds, launch.spread, 0});
    for (const DataType dtype : options_.dtypes) {
      for (const MeasuredFamily& family : measured_families()) measure(family, dtype);
    }
    if (World::current().size() > 1) {
      measure_messages();
      measure_reduction();
    }
    return std::move(result_);
  }

 private:
  std::vector<int64_t> sizes(const std::vector<int64_t>& all) const {
    return options_.quick ? std::vector(all.begin(), all.begin() + 2) : all;
  }

  void measure(const MeasuredFamily& family, DataType dtype) {
    OpFamily out{family.name, family.ops, family.by, {}};
    std::vector<double> spreads;
    for (const int64_t size : sizes(family.sizes)) {
      const double work = counted(family, dtype, size);
      const Timing timing = time_on_all(family.make(dtype, size), budget_, &evictor_);
      const double overhead = result_.machine.launch_overhead_us * 1e-6;
      const double net = std::max(timing.seconds - overhead, 0.1 * timing.seconds);
      out.points.push_back({work, work / net});
      spreads.push_back(timing.spread);
    }
    result_.quality.push_back({fmt::format("{} {}", name_of(dtype), family.name),
                               out.points.back().per_second, median_of(spreads), residual_of(out)});
    result_.machine.families[dtype].push_back(std::move(out));
  }

  // Half the time in which an array goes from rank 0 to rank 1 and back. Other ranks wait.
  Timing time_of_message(size_t bytes) {
    World& world = World::current();
    double both[] = {0, 0};
    if (world.rank() < 2) {
      const int64_t pair[] = {0, 1};
      distributed::Group& group = world.group(pair);
      const int64_t peer = 1 - group.position();
      std::vector<std::byte> array(bytes);
      const distributed::Send send{peer, array.data(), bytes};
      const distributed::Recv receive{peer, array.data(), bytes};
      const Work there = [&] { group.exchange({&send, 1}, {}); };
      const Work back = [&] { group.exchange({}, {&receive, 1}); };
      const bool is_first = group.position() == 0;
      // A fixed number of rounds: both ranks must make as many.
      const Timing timing = time_of(
          [&] {
            is_first ? there() : back();
            is_first ? back() : there();
          },
          {0, options_.quick ? size_t{5} : size_t{50}}, nullptr);
      both[0] = timing.seconds / 2;
      both[1] = timing.spread;
    }
    world.everyone().broadcast(both, 2, DataType::FLOAT64, /*root=*/0);
    return {both[0], both[1]};
  }

  void measure_messages() {
    const std::vector<int64_t> all = {8, 1 << 16, 1 << 12, 1 << 18, 1 << 20, 1 << 22};
    std::map<int64_t, Timing> timings;
    std::vector<double> spreads;
    for (const int64_t bytes : sizes(all)) {
      timings[bytes] = time_of_message(static_cast<size_t>(bytes));
      spreads.push_back(timings[bytes].spread);
    }
    const double latency = timings.begin()->second.seconds;
    const auto& [bytes, timing] = *timings.rbegin();
    const double rate =
        static_cast<double>(bytes) / std::max(timing.seconds - latency, 0.1 * timing.seconds);
    double residual = 0;
    for (const auto& [size, each] : timings) {
      const double predicted = latency + static_cast<double>(size) / rate;
      residual = std::max(residual, std::abs(predicted / each.seconds - 1));
    }
    result_.machine.links = {{"node", 0, latency * 1e6, rate * 1e-9}};
    result_.quality.push_back({"messages", rate, median_of(spreads), residual});
  }

  // Predicted seconds of an all-reduce whose additions cost nothing.
  double transfer_of(int64_t count) const {
    std::vector<RankProgram> programs;
    const int64_t ranks = World::current().size();
    for (int64_t rank = 0; rank < ranks; ++rank) {
      RecordingWorld world(rank, ranks);
      const World::Scope scope(world);
      programs.push_back(record_step(world, [&] {
        world.everyone().all_reduce(nullptr, count, DataType::FLOAT32,
                                    distributed::ReduceKind::kSum);
      }));
    }
    return distributed::simulator::simulate(programs, result_.machine).seconds;
  }

  // The additions take what an all-reduce takes beside its messages.
  void measure_reduction() {
    const std::vector<int64_t> all = {1 << 12, 1 << 16, 1 << 18, 1 << 20, 1 << 22};
    const int64_t ranks = World::current().size();
    std::vector<double> spreads;
    std::map<int64_t, double> medians;
    for (const int64_t count : sizes(all)) {
      std::vector<float> array(static_cast<size_t>(count), 1.0f);
      distributed::Group& everyone = World::current().everyone();
      const Timing timing = time_of(
          [&] {
            everyone.all_reduce(array.data(), count, DataType::FLOAT32,
                                distributed::ReduceKind::kMax);
          },
          {0, options_.quick ? size_t{3} : size_t{15}}, nullptr);
      double both[] = {timing.seconds, timing.spread};
      everyone.all_reduce(both, 2, DataType::FLOAT64, distributed::ReduceKind::kAvg);
      medians[count] = both[0];
      spreads.push_back(both[1]);
    }
    const auto [count, seconds] = *medians.rbegin();
    const double combined = 4.0 * static_cast<double>(count) / static_cast<double>(ranks) *
                            static_cast<double>(ranks - 1);
    const double left = seconds - transfer_of(count);
    result_.machine.reduce_GBps = left > 0 ? combined / left * 1e-9 : 0;
    double residual = 0;
    for (const auto& [size, measured] : medians) {
      residual = std::max(residual, std::abs(transfer_of(size) / measured - 1));
    }
    result_.quality.push_back(
        {"all_reduce", 4.0 * static_cast<double>(count) / seconds, median_of(spreads), residual});
  }

  const CalibrationOptions options_;
  const Budget budget_;
  CacheEvictor evictor_;
  Calibration result_;
};

}  // namespace

Calibration calibrate(const CalibrationOptions& options) { return Calibrator(options).run(); }

std::string table(const Calibration& calibration) {
  std::string out =
      fmt::format("{:<30}  {:>10}  {:>7}  {:>8}\n", "", "per second", "spread", "residual");
  for (const CalibrationQuality& row : calibration.quality) {
    out += fmt::format("{:<30}  {:>10.3g}  {:>6.1f}%  {:>7.1f}%\n", row.name, row.per_second,
                       100 * row.spread, 100 * row.residual);
  }
  return out;
}

}  // namespace phi::simulation
