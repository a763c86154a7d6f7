// Settings and drawn numbers.
#include "support/cuda_on_cpu/settings.h"

#include <cuda_runtime_api.h>

#include <algorithm>
#include <charconv>
#include <cstdlib>
#include <sstream>
#include <string>
#include <vector>

namespace cuda_on_cpu {
namespace {

constexpr size_t kMemory = 80'000'000'000;
constexpr int kGpus = 8;
constexpr int kMultiprocessors = 4;
constexpr int kCapability = 90;
constexpr int64_t kPatienceMs = 20'000;

std::atomic<uint64_t> generation{1};  // incremented when the seed is set

// Freed memory must reach the emulated allocator, which detects uses after a free. A cache of small
// blocks would hide them.
const bool gives_memory_back = setenv("AUTOPHI_GPU_MEMORY", "pool", /*overwrite=*/0) == 0;

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value == nullptr ? "" : value;
}

// The GPUs of the list up to the first invalid one.
std::vector<int> selected_gpus(const std::string& list, int count) {
  std::vector<int> selected;
  std::stringstream rest(list);
  for (std::string number; std::getline(rest, number, ',');) {
    int gpu = -1;
    const auto end = std::from_chars(number.data(), number.data() + number.size(), gpu).ptr;
    if (number.empty() || *end != '\0' || gpu < 0 || gpu >= count) break;
    selected.push_back(gpu);
  }
  return selected;
}

}  // namespace

Settings::Settings() { restore(); }

void Settings::restore() {
  const std::string chosen = environment("AUTOPHI_CUDA_SEED");
  order = chosen == "forward"    ? Order::kForward
          : chosen == "backward" ? Order::kBackward
                                 : Order::kDrawn;
  seed = chosen.empty() ? 1 : std::strtoull(chosen.c_str(), nullptr, 10);
  const std::string count = environment("AUTOPHI_CUDA_GPUS");
  show_gpus(count.empty() ? kGpus : std::atoi(count.c_str()));
  memory = kMemory;
  multiprocessors = kMultiprocessors;
  capability = kCapability;
  code_fits = true;
  driver_version = CUDART_VERSION;
  patience_ms = kPatienceMs;
  planted = cudaSuccess;
  ++generation;
}

void Settings::show_gpus(int count) {
  gpus = std::min(count, kMostVisible);
  for (int i = 0; i < gpus; ++i) physical[i] = i;
  if (std::getenv("CUDA_VISIBLE_DEVICES") == nullptr) return;
  const std::vector<int> selected = selected_gpus(environment("CUDA_VISIBLE_DEVICES"), gpus);
  gpus = std::min(gpus.load(), static_cast<int>(selected.size()));
  for (int i = 0; i < gpus; ++i) physical[i] = selected[static_cast<size_t>(i)];
}

Settings& settings() {
  static Settings all;
  return all;
}

namespace {
std::vector<void (*)()>& parts() {
  static std::vector<void (*)()> all;  // filled before main
  return all;
}
}  // namespace

void at_reset(void (*forget)()) { parts().push_back(forget); }
void forget_settings_of_parts() {
  for (void (*forget)() : parts()) forget();
}

void set_order(Order order, uint64_t seed) {
  settings().order = order;
  settings().seed = seed;
  ++generation;
}
void set_gpus(int gpus) { settings().show_gpus(gpus); }
void set_memory_limit(size_t bytes) { settings().memory = bytes; }
void set_multiprocessors(int count) { settings().multiprocessors = count; }
void set_capability(int major, int minor) { settings().capability = major * 10 + minor; }
void set_code_fits(bool fits) { settings().code_fits = fits; }
void set_driver_version(int version) { settings().driver_version = version; }
void set_patience(std::chrono::milliseconds patience) { settings().patience_ms = patience.count(); }
void fail_next_launch(cudaError_t error) { settings().planted = error; }
uint64_t launches() { return settings().launches; }
uint64_t graph_launches() { return settings().graph_launches; }

uint64_t Draw::number(uint64_t below) {
  if (generation_ != generation) {
    generation_ = generation;
    state_ = settings().seed * 0x2545f4914f6cdd1dull + salt_;
  }
  state_ += 0x9e3779b97f4a7c15ull;  // splitmix64
  uint64_t z = state_;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ull;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebull;
  return (z ^ (z >> 31)) % below;
}

}  // namespace cuda_on_cpu
