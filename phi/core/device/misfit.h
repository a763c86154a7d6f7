// Misfit: an element that an operator refuses, and its error. Host code throws it where it finds
// one; a kernel on a device, which cannot, leaves it for the host to throw where that waits for the
// device anyway, with the same text.
#pragma once

#include <cstdint>

#include "phi/core/meta.h"

namespace phi {

struct Misfit {
  const char* argument = nullptr;  // a literal: of which the element is
  /// Throws the error that these words make.
  void (*raise)(const Misfit& found) = nullptr;
  TensorMeta meta{};            // of the argument
  int64_t extent = 0;           // of what an index counts
  int64_t begin = 0;            // where that is a part: its first index
  const char* table = nullptr;  // a literal: of which an id picks rows
  bool from_end = false;        // indices may count from the end
  // Filled in where the element is found:
  const char* op = nullptr;  // null outside of an operator
  int64_t value = 0;
  double number = 0;  // the value of a float
  int64_t at = 0;     // flat position in the argument
};

}  // namespace phi
