// Each process writes a name at the kernel's first run, so that a process that ends early has
// written its names.
#include "support/cuda_on_cpu/ran.h"

#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <string>
#include <unordered_set>

#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu {
namespace {

const char* file_of_names() {
  static const char* const file = std::getenv("AUTOPHI_CUDA_RAN");
  return file != nullptr && *file != '\0' ? file : nullptr;
}

std::unordered_set<std::string> names_in(const char* file) {
  std::unordered_set<std::string> names;
  std::ifstream in(file);
  for (std::string line; std::getline(in, line);) names.insert(line);
  return names;
}

}  // namespace

void note_run(const void* kernel) {
  const char* const file = file_of_names();
  if (file == nullptr) return;
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static auto& kernels = *new std::unordered_set<const void*>;
  if (!kernels.insert(kernel).second) return;
  static auto& names = *new std::unordered_set<std::string>(names_in(file));
  const std::string name = function_name(kernel);
  if (!names.insert(name).second) return;
  std::ofstream out(file, std::ios::app);
  if (!(out << name + "\n" << std::flush)) fail(fmt::format("{} cannot be written", file));
}

}  // namespace cuda_on_cpu
