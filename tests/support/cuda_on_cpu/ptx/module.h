// A PTX module: its functions, parsed at first use, and its variables.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/cuda_on_cpu/ptx/program.h"

namespace cuda_on_cpu::ptx {

/// A variable outside of functions, or a static `.shared` variable of a kernel.
struct ModuleVariable {
  std::byte* address = nullptr;
  size_t size = 0;
  bool is_shared = false;
};

class Module {
 public:
  explicit Module(std::string text);
  Module(const Module&) = delete;

  std::vector<std::string> kernels() const;
  /// The function of this name. Fails if there is none, or if it has an unknown instruction.
  const Function& function(const std::string& name);
  /// The variable of this name; null if there is none.
  const ModuleVariable* variable(const std::string& name);

 private:
  void look_for_names();

  std::string text_;
  // Offsets at which declarations begin. A function may be declared before it is defined.
  std::map<std::string, std::vector<size_t>, std::less<>> functions_;
  std::map<std::string, size_t, std::less<>> variable_places_;
  std::vector<std::string> kernels_;
  std::map<std::string, std::unique_ptr<Function>> read_;
  std::map<std::string, ModuleVariable> variables_;
};

}  // namespace cuda_on_cpu::ptx
