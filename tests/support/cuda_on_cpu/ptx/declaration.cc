// Parses declarations.
#include "support/cuda_on_cpu/ptx/declaration.h"

#include <algorithm>
#include <cstdlib>

namespace cuda_on_cpu::ptx {

size_t size_of_type(std::string_view type) {
  if (type == ".pred") return 1;
  if (type.size() < 3 || std::string_view(".busf").find(type[1]) == std::string_view::npos)
    return 0;
  const size_t bits = std::strtoull(std::string(type.substr(2)).c_str(), nullptr, 10);
  return bits % 8 == 0 ? bits / 8 : 0;
}

void skip_linkage(Tokens& tokens) {
  while (tokens.is(".visible") || tokens.is(".weak") || tokens.is(".extern")) tokens.take();
}

Declaration read_declaration(Tokens& tokens) {
  Declaration found;
  found.space = tokens.take();
  while (tokens.now().starts_with('.')) {
    const std::string_view word = tokens.take();
    if (word == ".align") {
      found.alignment = std::strtoull(std::string(tokens.take()).c_str(), nullptr, 10);
    } else if (const size_t width = size_of_type(word); width != 0) {
      found.width = found.size = width;
    }
  }
  found.alignment = std::max(found.alignment, found.width);
  found.name = tokens.take();
  if (tokens.skip("[")) {
    found.size *= std::strtoull(std::string(tokens.take()).c_str(), nullptr, 10);
    tokens.skip("]");
  }
  return found;
}

}  // namespace cuda_on_cpu::ptx
