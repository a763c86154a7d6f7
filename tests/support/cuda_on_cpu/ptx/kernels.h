// The kernels of a program by name: PTX that nvcc made of the sources, beside what g++ made.
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

  /// The kernel of this name, demangled (`function_name`). Fails where there is none, or where two
  /// have it: overloads, and what stands in unnamed namespaces of sources that were compiled apart.
  const Function& find(const std::string& name);
  /// Their names without parameters, in order.
  std::vector<std::string> names() const;

 private:
  struct Definition {
    Module* module;
    std::string mangled;
  };
  std::vector<std::unique_ptr<Module>> modules_;
  std::map<std::string, std::vector<Definition>> by_name_;
};

/// The part of a demangled name that both compilers give alike: without the type of the result and
/// the parameters, whose types one may write otherwise.
std::string common_name(const std::string& demangled);

}  // namespace cuda_on_cpu::ptx
