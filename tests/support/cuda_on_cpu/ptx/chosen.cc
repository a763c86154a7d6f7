// Runs kernels by their PTX. AUTOPHI_CUDA_PTX names the library that contains it, which is read at
// the first launch.
#include <fmt/format.h>

#include <cstdlib>
#include <mutex>
#include <unordered_map>

#include "support/cuda_on_cpu/code.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/ptx/fat_binary.h"
#include "support/cuda_on_cpu/ptx/kernels.h"

namespace cuda_on_cpu::ptx {
namespace {

// If sizes differ, the library was built from other sources, or the compilers disagree.
void check_sizes(const Function& kernel, std::span<const Argument> arguments) {
  bool same = kernel.parameters.size() == arguments.size();
  for (size_t i = 0; same && i < arguments.size(); ++i) {
    same = kernel.parameters[i].size == arguments[i].size;
  }
  if (same) return;
  fail(fmt::format("the parameters of {} have other sizes in PTX than for g++", kernel.name));
}

const Function& chosen_kernel(const std::string& name, std::span<const Argument> arguments) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static Kernels& kernels = *new Kernels(read_ptx(std::getenv("AUTOPHI_CUDA_PTX")));
  static auto& known = *new std::unordered_map<std::string, const Function*>;
  const auto [kernel, fresh] = known.try_emplace(name, nullptr);
  if (fresh) {
    kernel->second = &kernels.find(name);
    check_sizes(*kernel->second, arguments);
  }
  return *kernel->second;
}

Code code_in_ptx(const std::string& kernel, std::shared_ptr<const Arguments> arguments) {
  const Function& chosen = chosen_kernel(kernel, arguments->each());
  return {[&chosen, held = std::move(arguments)] { run_kernel(chosen, held->each()); },
          chosen.shared};
}

[[maybe_unused]] const bool kOffered = [] {
  set_code_source(&code_in_ptx);
  return true;
}();

}  // namespace
}  // namespace cuda_on_cpu::ptx
