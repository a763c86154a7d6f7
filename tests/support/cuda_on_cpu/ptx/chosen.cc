// Kernels run by their PTX: AUTOPHI_CUDA_PTX names the library that holds it, which is read when
// the first kernel is launched.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <unordered_map>

#include "support/cuda_on_cpu/code.h"
#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/ptx/fat_binary.h"
#include "support/cuda_on_cpu/ptx/kernels.h"

namespace cuda_on_cpu::ptx {
namespace {

// Where sizes differ, the library was made of other sources, or the compilers do not agree.
void check_sizes(const Function& kernel, const std::vector<Argument>& arguments) {
  bool same = kernel.parameters.size() == arguments.size();
  for (size_t i = 0; same && i < arguments.size(); ++i) {
    same = kernel.parameters[i].size == arguments[i].size;
  }
  if (same) return;
  fail(fmt::format("the parameters of {} have other sizes in PTX than for g++", kernel.name));
}

// Adds the kernel's name to the file that AUTOPHI_CUDA_PTX_RAN names.
void note(const std::string& name) {
  static const char* const file = std::getenv("AUTOPHI_CUDA_PTX_RAN");
  if (file == nullptr) return;
  std::ofstream out(file, std::ios::app);
  if (!(out << common_name(name) + "\n" << std::flush)) {
    fail(fmt::format("{} cannot be written", file));
  }
}

const Function& chosen_kernel(const std::string& name, const std::vector<Argument>& arguments) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static Kernels& kernels = *new Kernels(read_ptx(std::getenv("AUTOPHI_CUDA_PTX")));
  static auto& known = *new std::unordered_map<std::string, const Function*>;
  const auto [kernel, fresh] = known.try_emplace(name, nullptr);
  if (fresh) {
    kernel->second = &kernels.find(name);
    check_sizes(*kernel->second, arguments);
    note(name);
  }
  return *kernel->second;
}

Code code_in_ptx(const std::string& kernel, Code compiled, std::vector<Argument> arguments) {
  const Function& chosen = chosen_kernel(kernel, arguments);
  // The compiled thread keeps what the arguments point to.
  return {[&chosen, kept = std::move(compiled.thread), arguments = std::move(arguments)] {
            run_kernel(chosen, arguments);
          },
          chosen.shared};
}

[[maybe_unused]] const bool kOffered = [] {
  set_code_source(&code_in_ptx);
  return true;
}();

}  // namespace
}  // namespace cuda_on_cpu::ptx
