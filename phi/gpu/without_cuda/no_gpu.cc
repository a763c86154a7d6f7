// What stands for GPUs in a build without CUDA: the reason why there are none.
#include "phi/common/errors.h"
#include "phi/core/device/device.h"

namespace phi::gpu {
namespace {

std::unique_ptr<Device> find(int index) {
  throw errors::Unavailable(
      "gpu:{} cannot be used: this build has no CUDA. Install the CUDA toolkit (nvcc) and build "
      "anew with -DAUTOPHI_CUDA=ON, or use `place: cpu`.",
      index);
}

const bool kFound = Device::add_finder(DeviceKind::GPU, find);

}  // namespace
}  // namespace phi::gpu
