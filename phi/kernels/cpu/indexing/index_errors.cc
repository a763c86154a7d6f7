// Error messages for out-of-range indices.
#include "phi/kernels/index_errors.h"

#include "phi/common/errors.h"

namespace phi {

void throw_outside_dim(const DeviceAssertion& found) {
  throw errors::OutOfRange(
      "{} holds {} at flat position {}, but the tensor dim that it names has {} entries; it must "
      "be in [{}, {}).",
      found.argument, found.value, found.at, found.extent, found.from_end ? -found.extent : 0,
      found.extent);
}

void throw_outside_table(const DeviceAssertion& found) {
  throw errors::OutOfRange(
      "{} holds {} at flat position {}, but {} has {} entries; it must be in [{}, {}).",
      found.argument, found.value, found.at, found.table, found.extent,
      found.from_end ? -found.extent : 0, found.extent);
}

}  // namespace phi
