// DeviceAssertion: an element that an operator refuses, and the error for it. Host
// code throws the error at once. A GPU kernel cannot throw; it stores the DeviceAssertion, and the
// host throws the same error at its next synchronisation.
#pragma once

#include <cstdint>

#include "phi/core/meta.h"

namespace phi {

struct DeviceAssertion {
  const char* argument = nullptr;  // name of the argument that has the element; a literal
  /// Throws the error for `found`.
  void (*raise)(const DeviceAssertion& found) = nullptr;
  TensorMeta meta{};            // metadata of the argument
  int64_t extent = 0;           // number of valid indices
  int64_t begin = 0;            // the first valid index, if the indexed range is a shard
  const char* table = nullptr;  // name of the argument whose rows are indexed; a literal
  bool from_end = false;        // negative indices count from the end
  int64_t ignored = 0;          // the index that means "no element"
  // Set where the element is found:
  const char* op = nullptr;  // null outside of an operator
  int64_t value = 0;
  double number = 0;  // the value, if the argument is floating
  int64_t at = 0;     // flat position in the argument
};

}  // namespace phi
