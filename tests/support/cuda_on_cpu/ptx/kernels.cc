// Finds kernels by name. Equal instances of a template may be in several sources. Kernels of one
// name in anonymous namespaces of several sources must not be confused.
#include "support/cuda_on_cpu/ptx/kernels.h"

#include <fmt/format.h>

#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/symbols.h"

namespace cuda_on_cpu::ptx {
namespace {

constexpr std::string_view kAnonymous = "(anonymous namespace)";

// Position at which the name ends and the parameters begin.
size_t end_of_name(std::string_view text) {
  int depth = 0;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.substr(i).starts_with(kAnonymous)) {
      i += kAnonymous.size() - 1;
    } else if (text[i] == '(' && depth == 0) {
      return i;
    } else if (text[i] == '<' || text[i] == '(') {
      ++depth;
    } else if (text[i] == '>' || text[i] == ')') {
      --depth;
    }
  }
  return text.size();
}

// Position at which the name begins, after the return type.
size_t begin_of_name(std::string_view text) {
  int depth = 0;
  for (size_t i = text.size(); i-- > 0;) {
    if (text[i] == '>' || text[i] == ')') ++depth;
    if (text[i] == '<' || text[i] == '(') --depth;
    if (text[i] == ' ' && depth == 0) return i + 1;
  }
  return 0;
}

// nvcc puts static functions into a namespace _INTERNAL_...
std::string without_internal_namespace(std::string name) {
  const std::string_view begin = "_INTERNAL_";
  for (size_t at = name.find(begin); at != std::string::npos; at = name.find(begin)) {
    const size_t end = name.find("::", at);
    if (end == std::string::npos) break;
    name.erase(at, end + 2 - at);
  }
  return name;
}

}  // namespace

std::string common_name(const std::string& demangled) {
  const std::string whole = without_internal_namespace(demangled);
  const std::string_view head = std::string_view(whole).substr(0, end_of_name(whole));
  return std::string(head.substr(begin_of_name(head)));
}

Kernels::Kernels(const std::vector<std::string>& texts) {
  for (const std::string& text : texts) {
    Module* const module = modules_.emplace_back(std::make_unique<Module>(text)).get();
    for (const std::string& mangled : module->kernels()) {
      by_name_[common_name(demangled(mangled))].push_back({module, mangled});
    }
  }
}

const Function& Kernels::find(const std::string& name) {
  const std::string common = common_name(name);
  const auto found = by_name_.find(common);
  if (found == by_name_.end()) fail(fmt::format("there is no PTX of the kernel {}", common));
  const Definition& first = found->second.front();
  for (const Definition& other : found->second) {
    if (other.mangled == first.mangled) continue;
    fail(fmt::format("the kernel {} is defined twice, as {} and {}: rename a type of one of them",
                     common, first.mangled, other.mangled));
  }
  return first.module->function(first.mangled);
}

std::vector<std::string> Kernels::names() const {
  std::vector<std::string> all;
  for (const auto& [name, definitions] : by_name_) all.push_back(name);
  return all;
}

}  // namespace cuda_on_cpu::ptx
