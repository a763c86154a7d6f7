// Training with states of several times the device's limit: what share of the transfer time compute
// hides, against the roofline and against the simulator's prediction; and how long planning takes.
//
//   swap_bench [layers=24] [buffer_KiB=1024] [states / device=4] [passes per step=6] [folder]
//
// Each layer has a parameter and two optimizer states; a step reads its operands `passes` times,
// which sets how much compute there is per byte.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <vector>

#include "phi/memory/engine/swap_engine.h"
#include "phi/memory/plan/simulate_plan.h"

namespace {

using namespace phi;
using namespace phi::memory;
using Clock = std::chrono::steady_clock;

double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Forth, back and update of a chain of layers; every buffer has `nbytes` bytes.
SwapProgram training(int32_t layers, int64_t nbytes) {
  using enum BufferAccess;
  SwapProgram program;
  const auto add = [&](const char* name, bool stays) {
    program.buffers.push_back({name, nbytes, stays, stays});
    return static_cast<SwapBufferId>(program.buffers.size()) - 1;
  };
  std::vector<SwapBufferId> w, m, v, a;
  program.buffers.push_back({"input", nbytes, true, false});
  a.push_back(0);
  for (int32_t i = 0; i < layers; ++i) {
    w.push_back(add("w", true));
    m.push_back(add("m", true));
    v.push_back(add("v", true));
    a.push_back(add("a", false));
    const auto at = static_cast<size_t>(i);
    program.steps.push_back(
        {.name = "forward", .operands = {{a[at], kRead}, {w[at], kRead}, {a[at + 1], kWrite}}});
  }
  SwapBufferId d = add("d", false);
  program.steps.push_back({.name = "loss", .operands = {{a.back(), kRead}, {d, kWrite}}});
  for (int32_t i = layers; i-- > 0;) {
    const auto at = static_cast<size_t>(i);
    const SwapBufferId g = add("g", false), below = add("d", false);
    program.steps.push_back(
        {.name = "backward",
         .operands = {{d, kRead}, {a[at], kRead}, {w[at], kRead}, {g, kWrite}, {below, kWrite}}});
    program.steps.push_back(
        {.name = "update",
         .operands = {{w[at], kUpdate}, {m[at], kUpdate}, {v[at], kUpdate}, {g, kRead}}});
    d = below;
  }
  return program;
}

/// Adds a share of what the step reads to what it writes, `passes` times.
void compute(const SwapStep& step, const std::vector<float*>& x, size_t n, int passes) {
  const float share = 0.5F / static_cast<float>(passes);  // so that values neither grow nor vanish
  for (size_t k = 0; k < x.size(); ++k) {
    if (step.operands[k].access == BufferAccess::kWrite) std::memset(x[k], 0, n * sizeof(float));
  }
  for (int pass = 0; pass < passes; ++pass) {
    for (size_t from = 0; from < x.size(); ++from) {
      if (step.operands[from].access == BufferAccess::kWrite) continue;
      for (size_t to = 0; to < x.size(); ++to) {
        if (step.operands[to].access == BufferAccess::kRead) continue;
        for (size_t i = 0; i < n; ++i) x[to][i] += share * x[from][i];
      }
    }
  }
}

struct Measured {
  double seconds = 0;     // of the fastest run
  SwapEngineStats stats;  // of all runs
  std::vector<float> value;
};

Measured run(SwapPlan plan, const SwapProgram& program, const std::string& folder, int passes,
             std::vector<double>* step_seconds) {
  constexpr int kRuns = 4;
  SwapEngine engine(std::move(plan), {.disk_folder = folder});
  const auto n = static_cast<size_t>(program.buffers[0].nbytes) / sizeof(float);
  std::vector<float> value(n, 1e-3F);
  for (size_t b = 1; b < program.buffers.size(); ++b) {
    if (program.buffers[b].given) {
      engine.put(static_cast<SwapBufferId>(b), std::as_bytes(std::span(value)));
    }
  }
  Measured measured{.seconds = 1e30, .stats = {}, .value = {}};
  for (int r = 0; r < kRuns; ++r) {
    engine.put(0, std::as_bytes(std::span(value)));
    const Clock::time_point begin = Clock::now();
    engine.begin_run();
    for (int32_t i = 0; i < engine.num_launches(); ++i) {
      engine.before_launch(i);
      const SwapStep& step = program.steps[static_cast<size_t>(engine.step(i))];
      std::vector<float*> x;
      for (size_t k = 0; k < step.operands.size(); ++k) {
        x.push_back(reinterpret_cast<float*>(engine.pointer(i, static_cast<int32_t>(k))));
      }
      const Clock::time_point launched = Clock::now();
      compute(step, x, n, passes);
      if (step_seconds) {
        double& seconds = (*step_seconds)[static_cast<size_t>(engine.step(i))];
        seconds = std::min(seconds, seconds_since(launched));
      }
      engine.after_launch(i);
    }
    engine.end_run();
    measured.seconds = std::min(measured.seconds, seconds_since(begin));
  }
  measured.stats = engine.stats();
  measured.value.resize(n);
  engine.get(1, std::as_writable_bytes(std::span(measured.value)));
  return measured;
}

double copy_bytes_per_s(size_t nbytes) {
  std::vector<char> from(nbytes, 1), to(nbytes);
  double least = 1e30;
  for (int i = 0; i < 8; ++i) {
    const Clock::time_point begin = Clock::now();
    std::memcpy(to.data(), from.data(), nbytes);
    least = std::min(least, seconds_since(begin));
  }
  return static_cast<double>(nbytes) / least;
}

void compare(const char* name, const SwapProgram& program, const MemoryLimits& limits,
             const TransferCosts& costs, const Measured& plain, const std::string& folder,
             int passes) {
  const SwapPlan plan = make_swap_plan(program, limits, costs);
  const SwapTimeline predicted = simulate_plan(plan, program, costs);
  const Measured swapped = run(plan, program, folder, passes, nullptr);
  const SwapEngineStats& stats = swapped.stats;
  const double moved = stats.transfer_seconds;
  fmt::print(
      "{:<12} {:8.1f} {:8.1f} {:8.1f} {:9.1f} {:9.1f}% {:9.1f}% {:>6}\n", name,
      swapped.seconds * 1e3, predicted.total_s * 1e3, predicted.roofline_s * 1e3,
      (static_cast<double>(stats.transfers.of(Tier::kHost, Tier::kDevice).bytes +
                           stats.transfers.of(Tier::kDisk, Tier::kDevice).bytes) /
       4 / (1 << 20)),
      moved > 0 ? 100 * (1 - std::min(1.0, stats.wait_seconds / moved)) : 100.0,
      100 * predicted.hidden_share(),
      std::memcmp(plain.value.data(), swapped.value.data(), plain.value.size() * sizeof(float)) == 0
          ? "same"
          : "OTHER");
}

void plan_large(int32_t layers) {
  const SwapProgram program = training(layers, 4096);
  for (const int64_t share : {1, 4}) {
    MemoryLimits limits{.host_bytes = kUnlimited};
    if (share > 1) limits.device_bytes = int64_t{layers} * 3 * 4096 / share;
    const Clock::time_point begin = Clock::now();
    const SwapPlan plan = make_swap_plan(program, limits);
    fmt::print("{} steps, {} buffers, device {}: planned in {:.2f} s, arena / live bytes {:.4f}\n",
               program.steps.size(), program.buffers.size(),
               share == 1 ? "unlimited" : "states / 4", seconds_since(begin),
               static_cast<double>(plan.arena_bytes) / static_cast<double>(plan.live_bytes));
  }
}

}  // namespace

int main(int argc, char** argv) {
  const auto argument = [&](int i, int64_t otherwise) {
    return argc > i ? std::atoll(argv[i]) : otherwise;
  };
  const auto layers = static_cast<int32_t>(argument(1, 24));
  const int64_t nbytes = argument(2, 1024) * 1024, share = argument(3, 4);
  const auto passes = static_cast<int>(argument(4, 6));
  const std::string folder = argc > 5 ? argv[5] : "/tmp";

  SwapProgram program = training(layers, nbytes);
  std::vector<double> seconds(program.steps.size(), 1e30);
  const Measured plain = run(make_swap_plan(program, {}), program, folder, passes, &seconds);
  for (size_t i = 0; i < seconds.size(); ++i) program.steps[i].seconds = seconds[i];
  const TransferCosts costs{.host_bytes_per_s = copy_bytes_per_s(static_cast<size_t>(nbytes)) / 2};

  const int64_t states = int64_t{layers} * 3 * nbytes;
  fmt::print(
      "{} layers, states {} MiB, device {} MiB; host copies {:.1f} GB/s; without limits {:.1f} "
      "ms\n\n",
      layers, states >> 20, (states / share) >> 20, costs.host_bytes_per_s / 1e9,
      plain.seconds * 1e3);
  fmt::print("{:<12} {:>8} {:>8} {:>8} {:>9} {:>10} {:>10} {:>6}\n", "tiers", "ms", "expected",
             "roofline", "MiB in", "hidden", "expected", "values");
  const int64_t all = 2 * states;
  compare("host", program, {.device_bytes = states / share, .host_bytes = all}, costs, plain,
          folder, passes);
  compare("host + disk", program,
          {.device_bytes = states / share, .host_bytes = states / 2, .disk_bytes = all}, costs,
          plain, folder, passes);
  fmt::print("\n");
  plan_large(66'000);
}
