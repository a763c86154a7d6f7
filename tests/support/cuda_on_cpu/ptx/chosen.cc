// Kernels run by their PTX: AUTOPHI_CUDA_PTX names the library that holds it, which is read when
// the first kernel is launched.
#include <fmt/format.h>

#include <cstdlib>
#include <fstream>
#include <mutex>
#include <set>

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

// Adds the kernel's name to the file that AUTOPHI_CUDA_PTX_RAN names, once in each process.
void note(const std::string& name) {
  static const char* const file = std::getenv("AUTOPHI_CUDA_PTX_RAN");
  static std::set<std::string>& known = *new std::set<std::string>;
  if (file == nullptr || !known.insert(name).second) return;
  std::ofstream(file, std::ios::app) << common_name(name) + "\n" << std::flush;
}

const Function& chosen_kernel(const std::string& name, const std::vector<Argument>& arguments) {
  static std::mutex mutex;
  const std::lock_guard lock(mutex);
  static Kernels& kernels = *new Kernels(read_ptx(std::getenv("AUTOPHI_CUDA_PTX")));
  const Function& kernel = kernels.find(name);
  check_sizes(kernel, arguments);
  note(name);
  return kernel;
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
