// Whether tests run each kernel that nvcc has compiled, but for one that nobody launches.
//   kernels_run LIBRARY NAMES...: the library, and files of the names of kernels that tests have run
// (AUTOPHI_CUDA_RAN). Ends with 1 and the names where some were run by none; else it deletes the
// files, so that the next check is of what ran after this one.
#include <fmt/format.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "support/cuda_on_cpu/ptx/fat_binary.h"
#include "support/cuda_on_cpu/ptx/kernels.h"

namespace {

using cuda_on_cpu::ptx::common_name;
using cuda_on_cpu::ptx::Kernels;
using cuda_on_cpu::ptx::read_ptx;

// The driver is asked whether its code fits (phi/gpu/probe.cu).
constexpr const char* kNeverLaunched = "phi::gpu::(anonymous namespace)::probe";

// False where a file is not there.
bool read_names(std::span<char*> files, std::set<std::string>* names) {
  for (const char* file : files) {
    std::ifstream in(file);
    if (!in) {
      fmt::print("{} does not exist: its test must run first (ctest -L gpu_on_cpu)\n", file);
      return false;
    }
    for (std::string line; std::getline(in, line);) names->insert(common_name(line));
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  const std::span arguments(argv, static_cast<size_t>(argc));
  std::set<std::string> run;
  if (argc < 3 || !read_names(arguments.subspan(2), &run)) return 1;
  size_t missing = 0;
  auto kernels = Kernels(read_ptx(arguments[1])).names();
  std::erase(kernels, kNeverLaunched);
  for (const std::string& kernel : kernels) {
    if (run.contains(kernel)) continue;
    ++missing;
    fmt::print("no test runs {}\n", kernel);
  }
  fmt::print("{} of {} kernels are run\n", kernels.size() - missing, kernels.size());
  if (missing > 0) return 1;
  for (const char* file : arguments.subspan(2)) std::filesystem::remove(file);
  return 0;
}
