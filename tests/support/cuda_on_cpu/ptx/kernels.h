// The kernels of a program by name: the PTX that nvcc compiled from the sources that g++ compiled
// too.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <vector>

#include "support/cuda_on_cpu/ptx/module.h"

namespace cuda_on_cpu::ptx {

/// All PTX of a file.
class Kernels {
 public:
  explicit Kernels(const std::vector<std::string>& texts);

  /// The kernel with this demangled name (`function_name`). Fails if there is none, or if two have
  /// it: overloads, or kernels in unnamed namespaces of different sources.
  const Function& find(const std::string& name);
  /// The names without parameters, sorted.
  std::vector<std::string> names() const;

 private:
  struct Definition {
    Module* module;
    std::string mangled;
  };
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, std::vector<Definition>> by_name_;
};

/// The part of a demangled name that both compilers produce alike. It excludes the return type and
/// the parameters, whose types they may spell differently.
std::string common_name(const std::string& demangled);

}  // namespace cuda_on_cpu::ptx
