// Finds a GPU, or the reason why there is none.
#include <cuda_runtime_api.h>
#include <fmt/format.h>

#include <cstring>

#include "phi/common/errors.h"
#include "phi/core/device/device.h"
#include "phi/core/device/visible_gpus.h"
#include "phi/gpu/errors.h"
#include "phi/gpu/gpu_device.h"
#include "phi/gpu/probe.h"

namespace phi::gpu {
namespace {

// CUDA encodes version 13.0 as 13000.
std::string version_text(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

[[noreturn]] void throw_no_driver(cudaError_t status) {
  int driver = 0;
  (void)cudaDriverGetVersion(&driver);
  (void)cudaGetLastError();
  const std::string needed = version_text(CUDART_VERSION);
  if (status == cudaErrorInsufficientDriver && driver > 0) {
    throw errors::Unavailable(
        "the NVIDIA driver of this machine supports CUDA {}, but this build needs one for CUDA {}; "
        "use a newer driver, a build with an older CUDA, or `place: cpu`.",
        version_text(driver), needed);
  }
  if (status == cudaErrorInsufficientDriver) {
    throw errors::Unavailable(
        "no NVIDIA driver is available (CUDA error {}); this build needs one for CUDA {}; use "
        "`place: cpu`.",
        static_cast<int>(status), needed);
  }
  throw errors::Unavailable("no GPU is available ({}); use `place: cpu`.", describe(status));
}

void check_number(int index) {
  const int count = visible_gpus();
  PHI_CHECK(index < count,
            errors::OutOfRange(
                "gpu:{} does not exist: CUDA shows {} to this process, numbered from 0. Start at "
                "most one rank per GPU on a machine, or check what CUDA_VISIBLE_DEVICES hides.",
                index, count == 1 ? "1 GPU" : fmt::format("{} GPUs", count)));
}

void check_code(int index) {
  const cudaError_t status = check_kernel_image();
  if (status == cudaSuccess) return;
  (void)cudaGetLastError();
  cudaDeviceProp properties{};
  (void)cudaGetDeviceProperties(&properties, index);
  throw errors::Unavailable(
      "gpu:{} ({}, sm_{}{}) cannot run the code of this build, which is for {} ({}). Build with "
      "-DAUTOPHI_CUDA_ARCH={}{}, or use `place: cpu`.",
      index, properties.name, properties.major, properties.minor, AUTOPHI_CUDA_ARCH_TEXT,
      describe(status), properties.major, properties.minor);
}

const bool kFound = Device::add_finder(DeviceKind::GPU, GpuDevice::find);

}  // namespace
}  // namespace phi::gpu

namespace phi {

int visible_gpus() {
  int count = 0;
  const cudaError_t status = cudaGetDeviceCount(&count);
  if (status != cudaSuccess || count == 0)
    gpu::throw_no_driver(status == cudaSuccess ? cudaErrorNoDevice : status);
  return count;
}

GpuId id_of_gpu(int index) {
  cudaDeviceProp properties{};
  PHI_GPU(cudaGetDeviceProperties(&properties, index));
  GpuId id{};
  static_assert(sizeof(properties.uuid) == sizeof(id));
  std::memcpy(id.data(), &properties.uuid, sizeof(id));
  return id;
}

}  // namespace phi

namespace phi::gpu {

std::unique_ptr<Device> GpuDevice::find(int index) {
  check_number(index);
  PHI_GPU(cudaSetDevice(index));
  check_code(index);
  return std::unique_ptr<Device>(new GpuDevice(index));
}

}  // namespace phi::gpu
