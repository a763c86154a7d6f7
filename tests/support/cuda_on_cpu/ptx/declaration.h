// Declarations of variables and parameters: ".param .align 8 .b8 name[16]".
#pragma once

#include <string>

#include "support/cuda_on_cpu/ptx/tokens.h"

namespace cuda_on_cpu::ptx {

struct Declaration {
  std::string space;  // .reg, .param, .shared, ..
  std::string name;
  size_t alignment = 1;
  size_t size = 0;   // bytes
  size_t width = 0;  // bytes per element
};

/// Reads a declaration and the token after it. The current token must be its space.
Declaration read_declaration(Tokens& tokens);
/// Skips .visible, .weak and .extern.
void skip_linkage(Tokens& tokens);
/// Size of a type in bytes, for example 4 for .f32; 0 for an unknown type.
size_t size_of_type(std::string_view type);

}  // namespace cuda_on_cpu::ptx
