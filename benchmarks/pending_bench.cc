// What a pipeline gains by posting its transfers: mpirun -n 2 build/bin/pending_bench [MiB]
// [rounds]
//
// Two stages of one rank each. In every step both compute for a given time, then an activation goes
// up and a gradient comes down: with reshard, where both ranks meet, or started and waited for one
// step later. Computing is sleeping, so that other work on the machine blurs the figures less; like
// a computation it moves no message. Both ways in turns; the figures are medians.
#include <fmt/core.h>

#include <algorithm>
#include <chrono>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "distributed/comm/world.h"
#include "distributed/reshard/execute.h"

namespace phi::distributed {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::microseconds;

constexpr int kSteps = 20;

// Every second step of a rank takes `odd` instead of `even`; the ranks take turns.
struct Load {
  std::string name;
  microseconds even;
  microseconds odd;
  microseconds of(int step, int64_t rank) const { return (step + rank) % 2 == 0 ? even : odd; }
};

struct Stages {
  const TensorDistAttr* lower = TensorDistAttr::replicated(ProcessMesh({1}, {}, {0}));
  const TensorDistAttr* upper = TensorDistAttr::replicated(ProcessMesh({1}, {}, {1}));
  DistTensor activation;
  DistTensor gradient;

  explicit Stages(int64_t bytes) {
    const TensorMeta meta{{bytes / 4}, DataType::FLOAT32};
    const int64_t rank = World::current().rank();
    activation = DistTensor::empty(meta, lower, CPUPlace(), rank);
    gradient = DistTensor::empty(meta, upper, CPUPlace(), rank);
    DistTensor& own = rank == 0 ? activation : gradient;
    std::fill_n(own.local().mutable_data<float>(), own.local().numel(), 1.0f);
  }
};

void run_blocking(const Stages& stages, const Load& load, int64_t rank) {
  for (int step = 0; step < kSteps; ++step) {
    std::this_thread::sleep_for(load.of(step, rank));
    reshard(stages.activation, stages.upper);
    reshard(stages.gradient, stages.lower);
  }
}

void run_posted(const Stages& stages, const Load& load, int64_t rank) {
  PendingReshard up;
  PendingReshard down;
  for (int step = 0; step < kSteps; ++step) {
    std::this_thread::sleep_for(load.of(step, rank));
    PendingReshard next_up = start_reshard(stages.activation, stages.upper);
    PendingReshard next_down = start_reshard(stages.gradient, stages.lower);
    if (step > 0) {
      up.wait();
      down.wait();
    }
    up = std::move(next_up);
    down = std::move(next_down);
  }
  up.wait();
  down.wait();
  World::current().drain();
}

double seconds_per_step(World& world, void (*run)(const Stages&, const Load&, int64_t),
                        const Stages& stages, const Load& load) {
  world.everyone().barrier();
  const auto start = Clock::now();
  run(stages, load, world.rank());
  world.everyone().barrier();
  return std::chrono::duration<double>(Clock::now() - start).count() / kSteps;
}

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  return values[values.size() / 2];
}

void bench(World& world, int64_t bytes, int rounds) {
  const Stages stages(bytes);
  const Load loads[] = {{"no computation", microseconds(0), microseconds(0)},
                        {"1 ms each", microseconds(1000), microseconds(1000)},
                        {"1 ms and 3 ms in turns", microseconds(3000), microseconds(1000)}};
  for (const Load& load : loads) {
    std::vector<double> blocking;
    std::vector<double> posted;
    std::vector<double> ratios;
    for (int i = 0; i < rounds; ++i) {
      blocking.push_back(seconds_per_step(world, run_blocking, stages, load));
      posted.push_back(seconds_per_step(world, run_posted, stages, load));
      ratios.push_back(blocking.back() / posted.back());
    }
    if (world.rank() != 0) continue;
    fmt::print("{:24} blocking {:7.3f} ms  posted {:7.3f} ms  ratio {:5.2f}\n", load.name,
               median(blocking) * 1e3, median(posted) * 1e3, median(ratios));
  }
}

}  // namespace
}  // namespace phi::distributed

int main(int argc, char** argv) {
  using namespace phi::distributed;
  World& world = init_world(&argc, &argv);
  try {
    const int64_t mebibytes = argc > 1 ? std::stoll(argv[1]) : 1;
    const int rounds = argc > 2 ? std::stoi(argv[2]) : 50;
    if (world.size() != 2) throw std::runtime_error("pending_bench needs 2 ranks");
    if (world.rank() == 0) fmt::print("2 ranks, {} MiB each way per step\n", mebibytes);
    bench(world, mebibytes << 20, rounds);
  } catch (const std::exception& error) {
    abort_job(error.what());
  }
  finalize_world();
}
