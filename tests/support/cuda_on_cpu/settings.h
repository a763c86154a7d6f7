// What tests and the environment set, and the numbers that orders are drawn from.
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
  std::atomic<int> physical[kMostVisible];  // the machine's number of each GPU that is visible
  std::atomic<size_t> memory;
  std::atomic<int> multiprocessors;
  std::atomic<int> capability;  // 90: 9.0
  std::atomic<bool> code_fits;
  std::atomic<int> driver_version;
  std::atomic<int64_t> patience_ms;
  std::atomic<int> planted{0};  // the error of the next launch
  std::atomic<uint64_t> launches{0};
  std::atomic<uint64_t> graph_launches{0};

  Settings();
  void restore();
  void show_gpus(int count);
};
Settings& settings();
/// Parts of the twin with settings of their own forget them at reset().
void at_reset(void (*forget)());
void forget_settings_of_parts();

/// Draws numbers, the same ones for the same seed; begins anew when the seed is set.
class Draw {
 public:
  explicit Draw(uint64_t salt) : salt_(salt) {}
  /// One of 0 .. below-1.
  uint64_t number(uint64_t below);

 private:
  uint64_t salt_;
  uint64_t generation_ = 0;
  uint64_t state_ = 0;
};

}  // namespace cuda_on_cpu
