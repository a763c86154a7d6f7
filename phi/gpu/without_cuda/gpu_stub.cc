// Stub for builds without CUDA: reports why there are no GPUs.
#include "phi/common/errors.h"
#include "phi/core/device/device.h"
#include "phi/core/device/visible_gpus.h"

namespace phi {
namespace {

[[noreturn]] std::unique_ptr<Device> find_no_gpu(int index) {
  throw errors::Unavailable(
      "gpu:{} cannot be used: this build has no CUDA. Install the CUDA toolkit (nvcc) and rebuild "
      "with -DAUTOPHI_CUDA=ON, or use `place: cpu`.",
      index);
}

const bool kFound = Device::add_finder(DeviceKind::GPU, find_no_gpu);

}  // namespace

int visible_gpus() { find_no_gpu(0); }
GpuId id_of_gpu(int index) { find_no_gpu(index); }

}  // namespace phi
