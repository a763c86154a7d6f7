// The table of backends that move arrays between devices. A backend is one folder and one row.
#pragma once

#include <memory>
#include <span>
#include <string_view>

#include "distributed/comm/communicator.h"
#include "distributed/comm/gpu_reduction.h"
#include "distributed/comm/world.h"
#include "phi/common/place.h"

namespace phi::distributed {

struct DeviceBackend {
  std::string_view name;
  DeviceKind device;
  /// Creates the communicator of arrays at `place`, the rank's device. It is a collective call of
  /// all ranks of `world`, which must outlive the result.
  std::unique_ptr<Communicator> (*make)(World& world, const Place& place, GpuReduction reduction);
};
std::span<const DeviceBackend> device_backends();

/// Calls `make` of the row for the device of `place`. Errors: Unavailable if there is no row, and
/// those of `make`.
std::unique_ptr<Communicator> make_device_communicator(World& world, const Place& place,
                                                       GpuReduction reduction);

}  // namespace phi::distributed
