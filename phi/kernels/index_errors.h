// Error messages for out-of-range indices, shared by all devices (DeviceAssertion and each device's
// check_elements.h).
#pragma once

#include "phi/core/device/device_assertion.h"

namespace phi {

/// Whether negative indices count from the end.
enum class FromEnd : bool { kNo, kYes };

/// Reports an index outside a tensor dim of `found.extent`. Errors: OutOfRange.
[[noreturn]] void throw_outside_dim(const DeviceAssertion& found);
/// Reports an id outside the rows of found.table, which has `found.extent` rows. Errors:
/// OutOfRange.
[[noreturn]] void throw_outside_table(const DeviceAssertion& found);

}  // namespace phi
