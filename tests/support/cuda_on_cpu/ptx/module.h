// A text of PTX: its functions, read when they are first asked for, and its variables.
#pragma once

#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "support/cuda_on_cpu/ptx/program.h"

namespace cuda_on_cpu::ptx {

/// A variable outside of functions. A static one of a kernel (`.shared`) is one, too.
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
  /// Fails if there is none of this name, or where it has an instruction that is not known.
  const Function& function(const std::string& name);
  /// Null if there is none.
  const ModuleVariable* variable(const std::string& name);

 private:
  void look_for_names();

  std::string text_;
  // Where declarations begin. Functions may have been declared before they are defined.
  std::map<std::string, std::vector<size_t>, std::less<>> functions_;
  std::map<std::string, size_t, std::less<>> variable_places_;
  std::vector<std::string> kernels_;
  std::map<std::string, std::unique_ptr<Function>> read_;
  std::map<std::string, ModuleVariable> variables_;
};

}  // namespace cuda_on_cpu::ptx
