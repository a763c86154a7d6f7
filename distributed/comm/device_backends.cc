// The rows of device backends.
#include "distributed/comm/device_backends.h"

#include <algorithm>

#include "distributed/comm/nccl/nccl_communicator.h"
#include "phi/common/errors.h"

namespace phi::distributed {

std::span<const DeviceBackend> device_backends() {
  static constexpr DeviceBackend kRows[] = {
      {.name = "nccl", .device = DeviceKind::GPU, .make = make_nccl_communicator},
  };
  return kRows;
}

std::unique_ptr<Communicator> make_device_communicator(World& world, const Place& place,
                                                       GpuReduction reduction) {
  const auto rows = device_backends();
  const auto row = std::ranges::find(rows, place.kind, &DeviceBackend::device);
  PHI_CHECK(row != rows.end(),
            errors::Unavailable("no backend moves arrays between ranks' devices of place {}; send "
                                "messages through host memory.",
                                place.to_string()));
  return row->make(world, place, reduction);
}

}  // namespace phi::distributed
