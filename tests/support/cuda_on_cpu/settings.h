// Settings from tests and the environment, and the random numbers that determine orders.
#pragma once

#include <atomic>
#include <chrono>
#include <cstdint>

#include "support/cuda_on_cpu/cuda_on_cpu.h"

namespace cuda_on_cpu {

constexpr int kMostVisible = 64;

struct Settings {
  std::atomic<Order> order;
  std::atomic<uint64_t> seed;
  std::atomic<int> gpus;
  std::atomic<int> physical[kMostVisible];  // physical number of each visible GPU
  std::atomic<size_t> memory;
  std::atomic<int> multiprocessors;
  std::atomic<int> capability;  // 90 for 9.0
  std::atomic<bool> code_fits;
  std::atomic<int> driver_version;
  std::atomic<int64_t> patience_ms;
  std::atomic<int> planted{0};  // error of the next launch
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> graph_launches{0};

  Settings();
  void restore();
  void show_gpus(int count);
};
Settings& settings();
/// Registers a function that reset() calls, for parts of the emulator with their own settings.
void at_reset(void (*forget)());
void forget_settings_of_parts();

/// A random generator that repeats its numbers for the same seed. Setting the seed restarts it.
class Draw {
 public:
  explicit Draw(uint64_t salt) : salt_(salt) {}
  /// A number in [0, below).
  uint64_t number(uint64_t below);

 private:
  uint64_t salt_;
  uint64_t generation_ = 0;
  uint64_t state_ = 0;
};

}  // namespace cuda_on_cpu
