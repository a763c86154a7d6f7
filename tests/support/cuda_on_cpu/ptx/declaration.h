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
  size_t width = 0;  // bytes of an element
};

/// Reads up to the token behind it, the first being its space.
Declaration read_declaration(Tokens& tokens);
/// Past .visible, .weak and .extern.
void skip_linkage(Tokens& tokens);
/// Bytes of a type: 4 for .f32. 0 if it is none.
size_t size_of_type(std::string_view type);

}  // namespace cuda_on_cpu::ptx
