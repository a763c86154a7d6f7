// Finds the functions and variables of a PTX module, and allocates the variables.
#include "support/cuda_on_cpu/ptx/module.h"

#include <fmt/format.h>
#include <sys/mman.h>

#include <cstring>

#include "support/cuda_on_cpu/failure.h"
#include "support/cuda_on_cpu/ptx/declaration.h"
#include "support/cuda_on_cpu/ptx/function_reader.h"

namespace cuda_on_cpu::ptx {
namespace {

// Memory below 2 GiB, because PTX stores addresses of shared variables in 32 bits. Like that of
// symbols it is never freed.
std::byte* low_memory(size_t size, size_t alignment) {
  constexpr size_t kBytes = size_t{512} << 20;
  static std::byte* const begin = [] {
    void* const memory = mmap(nullptr, kBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_32BIT, -1, 0);
    if (memory == MAP_FAILED) fail("no memory below 2 GiB for the shared variables of PTX");
    return static_cast<std::byte*>(memory);
  }();
  static size_t used = 0;
  used = (used + alignment - 1) / alignment * alignment;
  if (used + size > kBytes) fail("the shared variables of PTX take more than 512 MiB");
  std::byte* const address = begin + used;
  used += size;
  return address;
}

// "= {1, 2, ..}"
void read_initial_values(Tokens& tokens, const Declaration& declared, std::byte* to) {
  std::memset(to, 0, declared.size);
  if (!tokens.skip("=")) return;
  tokens.skip("{");
  for (size_t at = 0; at < declared.size && !tokens.is("}") && !tokens.is(";");
       at += declared.width) {
    char* end = nullptr;
    const std::string number(tokens.take());
    const uint64_t value = std::strtoull(number.c_str(), &end, 0);
    if (*end != '\0') {
      fail(fmt::format("the variable {} of PTX begins with {}, which is not an integer",
                       declared.name, number));
    }
    std::memcpy(to + at, &value, declared.width);
    tokens.skip(",");
  }
}

}  // namespace

Module::Module(std::string text) : text_(std::move(text)) { look_for_names(); }

// Declarations begin a line with a dot.
void Module::look_for_names() {
  const std::string_view text = text_;
  for (size_t at = text.find("\n."); at != std::string_view::npos; at = text.find("\n.", at + 1)) {
    Tokens tokens(text.substr(at + 1, std::min<size_t>(text.find('\n', at + 1), text.size()) - at));
    skip_linkage(tokens);
    if (tokens.is(".entry") || tokens.is(".func")) {
      const bool is_kernel = tokens.take() == ".entry";
      if (tokens.skip("(")) {
        while (!tokens.now().empty() && !tokens.skip(")")) tokens.take();
      }
      const std::string name(tokens.take());
      if (is_kernel) kernels_.push_back(name);
      functions_[name].push_back(at + 1);
    } else if (tokens.is(".shared") || tokens.is(".global") || tokens.is(".const")) {
      variable_places_.emplace(read_declaration(tokens).name, at + 1);
    }
  }
}

std::vector<std::string> Module::kernels() const { return kernels_; }

const Function& Module::function(const std::string& name) {
  if (const auto known = read_.find(name); known != read_.end()) return *known->second;
  const auto places = functions_.find(name);
  if (places != functions_.end()) {
    for (const size_t place : places->second) {
      auto found = read_function(std::string_view(text_).substr(place), *this);
      if (found != nullptr) return *(read_[name] = std::move(found));
    }
  }
  fail(fmt::format("PTX has no function {}", name));
}

const ModuleVariable* Module::variable(const std::string& name) {
  if (const auto known = variables_.find(name); known != variables_.end()) return &known->second;
  const auto place = variable_places_.find(name);
  if (place == variable_places_.end()) return nullptr;
  Tokens tokens(std::string_view(text_).substr(place->second));
  skip_linkage(tokens);
  const Declaration declared = read_declaration(tokens);
  ModuleVariable& variable = variables_[name];
  variable.size = declared.size;
  variable.is_shared = declared.space == ".shared";
  variable.address = low_memory(declared.size, declared.alignment);
  read_initial_values(tokens, declared, variable.address);
  return &variable;
}

}  // namespace cuda_on_cpu::ptx
